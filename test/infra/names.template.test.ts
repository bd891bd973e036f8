import { expect, it } from 'vitest'
import { maxStageLength } from '../../infra/names.ts'
import { namesIn } from './stacks/account.ts'
import { synthesizeUnchecked } from './stacks/synthesize.ts'

/**
 * Resource types whose names the stacks choose. `property` holds the name. `maxLength` is the longest name
 * that AWS allows (the quotas in each service's documentation).
 */
const namedTypes: Record<string, [property: string, maxLength: number]> = {
  'AWS::ApiGatewayV2::Api': ['Name', 128],
  'AWS::CloudWatch::Alarm': ['AlarmName', 255],
  'AWS::CloudWatch::CompositeAlarm': ['AlarmName', 255],
  'AWS::CloudWatch::Dashboard': ['DashboardName', 255],
  'AWS::DynamoDB::GlobalTable': ['TableName', 255],
  'AWS::Events::Archive': ['ArchiveName', 48],
  'AWS::Events::EventBus': ['Name', 256],
  'AWS::Events::EventBusPolicy': ['StatementId', 64],
  'AWS::Events::Rule': ['Name', 64],
  'AWS::IAM::Role': ['RoleName', 64],
  'AWS::Lambda::Function': ['FunctionName', 64],
  'AWS::Logs::LogGroup': ['LogGroupName', 512],
  'AWS::SQS::Queue': ['QueueName', 80],
  Export: ['Name', 255],
}

const longest = 's'.repeat(maxStageLength)

const values = { protectData: true, senders: { business: ['arn:aws:iam::123456789012:role/shop'] } }
const names = namesIn(await synthesizeUnchecked(longest, { values }))

it('every resource name begins with service and stage, so that other services can share the account', () => {
  const kinds = Object.entries(namedTypes).map(([type, [property]]) => `${type} ${property}`)
  expect([...new Set(names.map(({ kind }) => kind))].toSorted()).toEqual(kinds.toSorted())
  for (const { kind, name } of names)
    expect(name, kind).toMatch(new RegExp(`^(/|cdk-)?account-service-${longest}(-|$)`))
})

it('if the stage’s name has the maximum length, no resource name is too long for AWS', () => {
  for (const { kind, name } of names) {
    const [, limit] = namedTypes[kind.split(' ')[0] ?? ''] ?? []
    expect(name.length, `${kind} ${name}`).toBeLessThanOrEqual(limit ?? 0)
  }
})

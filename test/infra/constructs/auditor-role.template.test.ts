import { describe, expect, it } from 'vitest'
import { keyOf, onKey, readStage, signingKey } from '../../support/read-stage.ts'
import { ofType, synthesizeUnchecked } from '../stacks/synthesize.ts'

const stage = await readStage('dev')
const denial = stage.denialsOfAuditor

const ours = keyOf('dev')
const other = signingKey({ 'signing-key': 'account-service-prod' })
const onTable = (action: string, ...partitions: string[]) => ({
  action: `dynamodb:${action}`,
  resource: stage.tables[0]?.arn ?? '',
  context: { 'dynamodb:LeadingKeys': partitions },
})
const onRule = (action: string, name: string) => ({
  action: `events:${action}`,
  resource: `arn:aws:events:eu-central-1:123456789012:rule/account-service-dev-${name}`,
})

const onTrail = (action: string) => ({
  action: `cloudtrail:${action}`,
  resource: 'arn:aws:cloudtrail:us-east-1:999999999999:trail/organization',
})

describe('the auditor’s role', () => {
  it('the auditor’s role may read everything that the key audit needs', () => {
    for (const request of [
      ...['kms:ListKeys', 'cloudtrail:DescribeTrails', 'cloudtrail:LookupEvents'].map((action) => ({
        action,
        resource: '*',
      })),
      ...['GetTrailStatus', 'GetEventSelectors'].map((action) => onTrail(action)),
      ...['DescribeKey', 'GetKeyPolicy', 'GetPublicKey', 'ListResourceTags'].flatMap((name) => [
        onKey(name, ours),
        onKey(name, stage.keys.EVIDENCE),
      ]),
      onTable('Query', 'KEYS'),
      ...['DescribeRule', 'ListTargetsByRule'].map((action) => onRule(action, 'rotate-signing-keys')),
    ])
      expect(denial(request), request.action).toBeUndefined()
  })

  it('the auditor’s role may do no more than read the signing keys with their records', () => {
    for (const request of [
      ...['DescribeKey', 'ListResourceTags'].map((action) => onKey(action, other)),
      ...['DisableKey', 'Sign', 'TagResource'].map((action) => onKey(action, ours)),
      ...['DisableKey', 'Sign', 'PutKeyPolicy'].map((action) => onKey(action, stage.keys.EVIDENCE)),
      onTable('Query', 'USER#1'),
      onTable('Scan'),
      onTable('Query'),
      onTable('PutItem', 'KEYS'),
      onRule('DescribeRule', 'verify-ledger'),
      onRule('DisableRule', 'rotate-signing-keys'),
      onTrail('StopLogging'),
    ])
      expect(denial(request), `${request.action} ${String(request.resource)}`).toContain('not authorized')
  })

  it('only the named principals may assume the auditor’s role; without any, IAM decides', async () => {
    const trusted = async (values: object) => {
      const roles = ofType(await synthesizeUnchecked('prod', { values: { ...values } }), 'AWS::IAM::Role')
      const role = roles.find(({ id }) => id.startsWith('Auditor'))?.resource
      return JSON.stringify(role?.Properties['AssumeRolePolicyDocument'])
    }
    const auditors = ['arn:aws:iam::123456789012:user/auditor', 'arn:aws:iam::999999999999:role/auditors']
    expect(await trusted({ auditors })).toContain(`{"AWS":${JSON.stringify(auditors)}}`)
    expect(await trusted({})).toContain(':root')
  })
})

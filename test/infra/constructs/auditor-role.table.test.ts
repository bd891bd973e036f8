import { QueryCommand, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb'
import {
  DescribeRuleCommand,
  DisableRuleCommand,
  ListTargetsByRuleCommand,
} from '@aws-sdk/client-eventbridge'
import {
  CreateKeyCommand,
  DescribeKeyCommand,
  DisableKeyCommand,
  GetPublicKeyCommand,
  ListKeysCommand,
  ListResourceTagsCommand,
  SignCommand,
} from '@aws-sdk/client-kms'
import { App, Stack } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { AttributeType, TableV2 } from 'aws-cdk-lib/aws-dynamodb'
import { expect, it } from 'vitest'
import { readConfig } from '../../../infra/config.ts'
import { AuditorRole } from '../../../infra/constructs/auditor-role.ts'
import type { PolicyStatement } from '../../../infra/local/model.ts'
import { requireEnv } from '../../../shared/env.ts'
import {
  accountId,
  arnOf,
  functionModel,
  region,
  ruleModel,
  stackModel,
  startStack,
} from '../local/aws/stack.ts'

function synthesize(values: Record<string, unknown> = {}) {
  const stack = new Stack(new App(), 'test', { env: { account: accountId, region } })
  const table = new TableV2(stack, 'Table', { partitionKey: { name: 'pk', type: AttributeType.STRING } })
  new AuditorRole(stack, 'Auditor', { config: readConfig({ stage: 'local', ...values }), table })
  return Template.fromStack(stack)
}

/** Replaces CloudFormation references in the role's policy by values. */
function resolve(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(resolve)
  if (typeof value !== 'object' || value === null) return value
  const { Ref: reference, 'Fn::Join': join, 'Fn::GetAtt': attribute } = value as Record<string, unknown>
  if (reference !== undefined) return 'aws'
  if (attribute !== undefined) return arnOf('dynamodb', 'table/account-service')
  if (Array.isArray(join)) return (resolve(join[1]) as string[]).join(String(join[0]))
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, resolve(member)]))
}

async function startAsAuditor() {
  const [policy] = Object.values(synthesize().findResources('AWS::IAM::Policy')) as {
    Properties: { PolicyDocument: { Statement: unknown[] } }
  }[]
  const statements = resolve(policy?.Properties.PolicyDocument.Statement) as PolicyStatement[]
  const dynamodbEndpoint = requireEnv('AWS_ENDPOINT_URL')
  const rule = (name: string) => ruleModel(name, { busName: 'default', schedule: 'rate(1 hour)' })
  const model = stackModel({
    functions: [functionModel('auditor', statements)],
    rules: [rule('rotate-signing-keys'), rule('another')],
    tables: [
      {
        name: 'account-service',
        arn: arnOf('dynamodb', 'table/account-service'),
        createTableInput: { KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }] },
        ttlAttribute: undefined,
      },
    ],
  })
  const { kms, as } = await startStack(model, { dynamodbEndpoint })
  const newKey = async (tag: string) => {
    const Tags = [{ TagKey: 'signing-key', TagValue: tag }]
    const { KeyMetadata } = await kms.send(
      new CreateKeyCommand({ KeySpec: 'RSA_2048', KeyUsage: 'SIGN_VERIFY', Tags }),
    )
    return KeyMetadata?.KeyId ?? expect.unreachable()
  }
  return { auditor: as('auditor'), ours: await newKey('account-service'), other: await newKey('other') }
}

const query = (partition: string) =>
  new QueryCommand({
    TableName: 'account-service',
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': { S: partition } },
  })

it('the auditor’s role may read everything that the key audit needs', async () => {
  const { auditor, ours } = await startAsAuditor()
  const { kms, dynamodb, events } = auditor
  await kms.send(new ListKeysCommand({}))
  await kms.send(new DescribeKeyCommand({ KeyId: ours }))
  await kms.send(new GetPublicKeyCommand({ KeyId: ours }))
  await kms.send(new ListResourceTagsCommand({ KeyId: ours }))
  expect((await dynamodb.send(query('KEYS'))).Count).toBeGreaterThan(0)
  await events.send(new DescribeRuleCommand({ Name: 'rotate-signing-keys' }))
  await events.send(new ListTargetsByRuleCommand({ Rule: 'rotate-signing-keys' }))
})

it('the auditor’s role may read nothing but the signing keys and their records, and change nothing', async () => {
  const { auditor, ours, other } = await startAsAuditor()
  const { kms, dynamodb, events } = auditor
  const TableName = 'account-service'
  for (const [what, refused] of Object.entries({
    describeOther: () => kms.send(new DescribeKeyCommand({ KeyId: other })),
    tagsOfOther: () => kms.send(new ListResourceTagsCommand({ KeyId: other })),
    disable: () => kms.send(new DisableKeyCommand({ KeyId: ours })),
    sign: () =>
      kms.send(
        new SignCommand({
          KeyId: ours,
          Message: new Uint8Array(32),
          MessageType: 'DIGEST',
          SigningAlgorithm: 'RSASSA_PKCS1_V1_5_SHA_256',
        }),
      ),
    user: () => dynamodb.send(query('USER#1')),
    scan: () => dynamodb.send(new ScanCommand({ TableName })),
    put: () =>
      dynamodb.send(new PutItemCommand({ TableName, Item: { pk: { S: 'KEYS' }, sk: { S: 'RING' } } })),
    anotherRule: () => events.send(new DescribeRuleCommand({ Name: 'another' })),
    switchOff: () => events.send(new DisableRuleCommand({ Name: 'rotate-signing-keys' })),
  })) {
    await expect(refused(), what).rejects.toMatchObject({
      name: expect.stringMatching(/^AccessDenied/) as string,
    })
  }
})

it('only the configured principal may assume the auditor’s role; without one, IAM in the account decides', () => {
  const principals = (template: Template) =>
    JSON.stringify(Object.values(template.findResources('AWS::IAM::Role'))[0])
  const arn = 'arn:aws:iam::999999999999:role/auditors'
  expect(principals(synthesize({ auditorPrincipalArn: arn }))).toContain(arn)
  expect(principals(synthesize())).toContain(`:iam::${accountId}:root`)
})

import { DynamoDBClient, type TransactWriteItem, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb'
import * as iam from '@aws-sdk/client-iam'
import { getDefaultRoleAssumer, GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts'
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { requireEnv } from '../../../shared/env.ts'
import { eventually } from './call.ts'

const toPolicy = (...statements: object[]) =>
  JSON.stringify({ Version: '2012-10-17', Statement: statements.map((one) => ({ Effect: 'Allow', ...one })) })

/** An IAM statement for one action on one partition, with the conditions of infra/constructs/grant.ts. */
const onPartition = (action: string, partition: string) => ({
  Action: `dynamodb:${action}`,
  Resource: '*',
  Condition: {
    'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [partition] },
    Null: { 'dynamodb:LeadingKeys': 'false' },
  },
})

/**
 * Tries a transaction on two partitions, each allowed by an IAM statement of its own. If AWS requires one
 * statement for both partitions, throws an Error that says what to change.
 */
export async function judgeTransaction(): Promise<void> {
  const options = { ...clientOptions(), requestHandler: {} }
  const roles = new iam.IAMClient(options)
  const RoleName = `scratch-${randomUUID()}`
  const { Account } = await new STSClient(options).send(new GetCallerIdentityCommand())
  const AssumeRolePolicyDocument = toPolicy({ Action: 'sts:AssumeRole', Principal: { AWS: Account } })
  const { Role } = await roles.send(new iam.CreateRoleCommand({ RoleName, AssumeRolePolicyDocument }))
  const session = { RoleArn: Role?.Arn, RoleSessionName: RoleName }
  const credentials = async () => getDefaultRoleAssumer(options)(await options.credentials(), session)
  const dynamodb = new DynamoDBClient({ ...options, credentials })
  const attempt = (...TransactItems: TransactWriteItem[]): Promise<unknown> =>
    dynamodb
      .send(new TransactWriteItemsCommand({ TransactItems }))
      .catch((error: unknown) => (error as Error).name)
  // The items below do not exist, so this condition fails: AWS cancels the transactions and changes nothing.
  const never = { TableName: requireEnv('TABLE_NAME'), ConditionExpression: 'attribute_exists(pk)' }
  const keyOf = (pk: string) => ({ pk: { S: pk }, sk: { S: RoleName } })
  const put = { Put: { ...never, Item: keyOf('SCRATCH#PUT') } }
  const check = { ConditionCheck: { ...never, Key: keyOf('SCRATCH#CHECK') } }
  const policy = { RoleName, PolicyName: RoleName }
  try {
    const statements = [
      onPartition('PutItem', 'SCRATCH#PUT'),
      onPartition('ConditionCheckItem', 'SCRATCH#CHECK'),
    ]
    await roles.send(new iam.PutRolePolicyCommand({ ...policy, PolicyDocument: toPolicy(...statements) }))
    // Retries each of `put` and `check` until AWS allows it, because a new role takes effect with a delay.
    await eventually(async () => {
      for (const member of [put, check]) assert.equal(await attempt(member), 'TransactionCanceledException')
    })
    const answer = await attempt(put, check)
    const words = `AWS judges every member of a transaction by the partitions of all (${String(answer)}). Before anybody uses the stage, change the transactions that infra/THREAT-MODEL.md lists.`
    assert.equal(answer, 'TransactionCanceledException', words)
  } finally {
    await roles.send(new iam.DeleteRolePolicyCommand(policy)).catch(() => undefined)
    await roles.send(new iam.DeleteRoleCommand({ RoleName }))
  }
}

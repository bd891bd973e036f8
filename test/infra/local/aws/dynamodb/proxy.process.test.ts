import {
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { expect, test } from 'vitest'
import type { PolicyStatement } from '../../../../../infra/local/model.ts'
import { table, useTable } from '../local-table.ts'
import { functionModel } from '../stack.ts'

const start = useTable()

async function startTable(statements: PolicyStatement[]) {
  const stack = await start([functionModel('worker', statements)])
  return { owner: stack.dynamodb, worker: stack.as('worker').dynamodb }
}

const Key = { pk: { S: 'U#1' }, sk: { S: 'A' } }
const Item = { ...Key, amount: { N: '0.100000000000000001' } }
const TableName = 'main'

function queryOf(pk: string) {
  return new QueryCommand({
    TableName,
    KeyConditionExpression: '#pk = :pk',
    ExpressionAttributeNames: { '#pk': 'pk' },
    ExpressionAttributeValues: { ':pk': { S: pk } },
  })
}

function allow(
  Action: string | string[],
  Resource = table.arn,
  more: Partial<PolicyStatement> = {},
): PolicyStatement {
  return { Effect: 'Allow', Action, Resource, ...more }
}

test('the proxy passes requests to DynamoDB Local unchanged, with every digit of a number', async () => {
  const { owner } = await startTable([])
  await owner.send(new PutItemCommand({ TableName, Item }))
  expect((await owner.send(new GetItemCommand({ TableName, Key }))).Item).toEqual(Item)
  await expect(owner.send(new GetItemCommand({ TableName: 'none', Key }))).rejects.toMatchObject({
    name: 'ResourceNotFoundException',
  })
})

test('a DynamoDB transaction is denied unless every operation in it is permitted', async () => {
  const write = new TransactWriteItemsCommand({
    TransactItems: [
      { Put: { TableName, Item } },
      {
        ConditionCheck: {
          TableName,
          Key: { pk: { S: 'U#1' }, sk: { S: 'C' } },
          ConditionExpression: 'attribute_not_exists(pk)',
        },
      },
    ],
  })
  const needed = ['dynamodb:PutItem', 'dynamodb:ConditionCheckItem']
  const complete = await startTable([allow(needed)])
  await complete.worker.send(write)
  for (const missing of needed) {
    const { worker } = await startTable([allow(needed.filter((action) => action !== missing))])
    await expect(worker.send(write), missing).rejects.toMatchObject({ name: 'AccessDeniedException' })
  }
})

test('a DynamoDB query of an index is denied without permission for that index', async () => {
  const query = new QueryCommand({
    TableName,
    IndexName: 'byGroup',
    KeyConditionExpression: 'gpk = :g',
    ExpressionAttributeValues: { ':g': { S: 'g' } },
  })
  const { worker } = await startTable([allow('dynamodb:Query', `${table.arn}/index/*`)])
  await worker.send(query)
  await expect(worker.send(queryOf('U#1'))).rejects.toMatchObject({ name: 'AccessDeniedException' })
  const other = await startTable([allow('dynamodb:Query')])
  await expect(other.worker.send(query)).rejects.toMatchObject({ name: 'AccessDeniedException' })
})

test('a DynamoDB request is denied if a condition on dynamodb:LeadingKeys excludes its partition key', async () => {
  const { worker } = await startTable([
    allow('dynamodb:*', table.arn, {
      Condition: {
        'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['U#*'] },
        Null: { 'dynamodb:LeadingKeys': 'false' },
      },
    }),
    {
      Effect: 'Deny',
      Action: 'dynamodb:UpdateItem',
      Resource: '*',
      Condition: { 'ForAnyValue:StringEquals': { 'dynamodb:LeadingKeys': ['U#2'] } },
    },
  ])
  const updateOf = (pk: string) =>
    new UpdateItemCommand({
      TableName,
      Key: { ...Key, pk: { S: pk } },
      UpdateExpression: 'SET note = :n',
      ExpressionAttributeValues: { ':n': { N: '1' } },
    })
  await worker.send(queryOf('U#1'))
  await worker.send(updateOf('U#1'))
  const denied = { name: 'AccessDeniedException' }
  await expect(worker.send(queryOf('W#1'))).rejects.toMatchObject(denied)
  await expect(worker.send(new ScanCommand({ TableName }))).rejects.toMatchObject(denied)
  await expect(worker.send(updateOf('U#2'))).rejects.toMatchObject({
    ...denied,
    message: expect.stringContaining('with an explicit deny in an identity-based policy') as unknown,
  })
})

test('a transaction with two operations on one item is refused, as on AWS', async () => {
  const { owner } = await startTable([])
  const put = { Put: { TableName, Item } }
  const check = { ConditionCheck: { TableName, Key, ConditionExpression: 'attribute_exists(pk)' } }
  const other = { Put: { TableName, Item: { ...Item, sk: { S: 'B' } } } }
  await expect(
    owner.send(new TransactWriteItemsCommand({ TransactItems: [put, other, check] })),
  ).rejects.toMatchObject({
    name: 'ValidationException',
    message: 'Transaction request cannot include multiple operations on one item',
  })
  await owner.send(new TransactWriteItemsCommand({ TransactItems: [put, other] }))
})

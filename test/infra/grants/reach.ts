import {
  type AttributeValue,
  BatchGetItemCommand,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import type { FunctionModel } from '../../../infra/local/model.ts'
import { indexPartitions, partitions } from '../../../shared/db/partitions.ts'
import { indexName } from '../../../shared/db/table-layout.ts'
import { requireEnv } from '../../../shared/env.ts'
import { events } from '../../../infra/events.ts'
import type { OwnStack } from './own-stack.ts'
import { partitionsOf } from './variants.ts'

/** Partition keys of no item, one for each partition and each part of one that grants tell apart. */
const keysFor = ({ name }: FunctionModel): string[] => [
  ...partitions.filter((name) => !['BL#', 'EVT#', 'W#'].includes(name)),
  ...['asset', 'reward'].flatMap((wallet) => [`W#0#${wallet}`, `BL#0#${wallet}#none`]),
  ...[...detailTypesFor(name), 'another'].map((type) => `EVT#${type}#none`),
]

// shared/db/table.ts would make a client, before the environment of a function is set.
const tableName = (): string => requireEnv('TABLE_NAME')

/** The detail-type of an event's function, and that of one other event. */
const detailTypesFor = (name: string): string[] =>
  events
    .map(({ detailType }) => detailType)
    .filter((type, i) => i === 0 || name === `intake-${type.replaceAll('.', '-')}`)

type Key = Record<string, AttributeValue>
type Attempt = (client: DynamoDBClient, pk: string, Key: Key) => Promise<unknown>

const never = 'attribute_exists(pk) AND attribute_not_exists(pk)'
const query = (client: DynamoDBClient, name: string, value: string, IndexName?: string) =>
  client.send(
    new QueryCommand({
      TableName: tableName(),
      ...(IndexName === undefined ? {} : { IndexName }),
      KeyConditionExpression: `${name} = :value`,
      ExpressionAttributeValues: { ':value': { S: value } },
    }),
  )

/** A request for each action on items, which changes nothing even where it is allowed. */
const attempts: Record<string, Attempt> = {
  GetItem: (client, _, Key) => client.send(new GetItemCommand({ TableName: tableName(), Key })),
  BatchGetItem: (client, _, Key) =>
    client.send(new BatchGetItemCommand({ RequestItems: { [tableName()]: { Keys: [Key] } } })),
  Query: (client, pk) => query(client, 'pk', pk),
  'Query index': (client, pk) => query(client, 'gpk', pk, indexName),
  PutItem: (client, _, Item) =>
    client.send(new PutItemCommand({ TableName: tableName(), Item, ConditionExpression: never })),
  UpdateItem: (client, _, Key) =>
    client.send(
      new UpdateItemCommand({
        TableName: tableName(),
        Key,
        UpdateExpression: 'REMOVE nothing',
        ConditionExpression: never,
      }),
    ),
  DeleteItem: (client, _, Key) =>
    client.send(new DeleteItemCommand({ TableName: tableName(), Key, ConditionExpression: never })),
  ConditionCheckItem: (client, _, Key) =>
    client.send(
      new TransactWriteItemsCommand({
        TransactItems: [{ ConditionCheck: { TableName: tableName(), Key, ConditionExpression: never } }],
      }),
    ),
  Scan: (client) => client.send(new ScanCommand({ TableName: tableName(), Limit: 1 })),
}

const isAllowed = async (request: Promise<unknown>): Promise<boolean> => {
  try {
    await request
    return true
  } catch (error) {
    const { name } = error as Error
    if (name === 'AccessDeniedException') return false
    if (name === 'ConditionalCheckFailedException' || name === 'TransactionCanceledException') return true
    throw error
  }
}

/** Tries every action on every partition with a function's own credentials, and lists what is allowed. */
export async function reachOf(item: FunctionModel, { dynamodbOf }: OwnStack): Promise<string[]> {
  const client = dynamodbOf(item)
  const keys = keysFor(item)
  const reached: string[] = []
  try {
    for (const [action, attempt] of Object.entries(attempts))
      for (const pk of action === 'Query index' ? [...keys, ...indexPartitions] : keys)
        if (await isAllowed(attempt(client, pk, { pk: { S: pk }, sk: { S: 'none' } })))
          reached.push(`${action} ${pk}`)
  } finally {
    client.destroy()
  }
  return reached.sort()
}

/** Lists the same by the text of the function's policies: every action and partition that they name. */
export function grantedReach(item: FunctionModel): string[] {
  const reached = item.policies
    .flatMap(({ Statement }) => Statement)
    .flatMap((statement) => {
      const named = partitionsOf(statement)
      if (named === undefined) return []
      const onIndex = String(statement.Resource).includes('/index/')
      const keys = onIndex ? [...keysFor(item), ...indexPartitions] : keysFor(item)
      return [statement.Action ?? []]
        .flat()
        .flatMap((action) =>
          keys
            .filter((pk) => named.some((pattern) => covers(pattern, pk)))
            .map((pk) => `${action.replace('dynamodb:', '')}${onIndex ? ' index' : ''} ${pk}`),
        )
    })
  return [...new Set(reached)].sort()
}

/** Whether a pattern of a policy matches a partition key; in words of the test, not of the local IAM. */
function covers(pattern: string, pk: string): boolean {
  const parts = pattern.split('*')
  return (
    pk.startsWith(parts[0] ?? '') &&
    pk.endsWith(parts.at(-1) ?? '') &&
    parts.every((part) => pk.includes(part))
  )
}

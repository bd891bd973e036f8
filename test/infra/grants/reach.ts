import { compileSession } from '../../../infra/local/aws/iam/authorize.ts'
import { listAccess } from '../../../infra/local/aws/dynamodb/access.ts'
import type { FunctionModel, StackModel } from '../../../infra/local/model.ts'
import { events } from '../../../infra/events.ts'
import { indexPartitions, partitions } from '../../../shared/db/partitions.ts'
import { indexName } from '../../../shared/db/table-layout.ts'
import { partitionsOf } from './variants.ts'

/** Partition keys of no item, one for each partition and each part of one that grants tell apart. */
const keysFor = ({ name }: FunctionModel): string[] => [
  ...partitions.filter((name) => !['BL#', 'BX#', 'EVT#', 'W#'].includes(name)),
  ...['asset', 'reward'].flatMap((wallet) => [`W#0#${wallet}`, `BL#0#${wallet}`, `BX#0#${wallet}`]),
  ...[...detailTypesFor(name), 'another'].map((type) => `EVT#${type}#none`),
]

/** The detail-type of an event's function, and that of one other event. */
const detailTypesFor = (name: string): string[] =>
  events
    .map(({ detailType }) => detailType)
    .filter((type, i) => i === 0 || name === `intake-${type.replaceAll('.', '-')}`)

type Attempt = (TableName: string, pk: string) => [operation: string, input: object]

const none = { S: 'none' }
const onItem =
  (operation: string): Attempt =>
  (TableName, pk) => [operation, { TableName, Key: { pk: { S: pk }, sk: none } }]
const query =
  (name: string, index: object): Attempt =>
  (TableName, pk) => [
    'Query',
    {
      TableName,
      ...index,
      KeyConditionExpression: `${name} = :value`,
      ExpressionAttributeValues: { ':value': { S: pk } },
    },
  ]

/** A request of DynamoDB for each action on items. */
const attempts: Record<string, Attempt> = {
  GetItem: onItem('GetItem'),
  BatchGetItem: (TableName, pk) => [
    'BatchGetItem',
    { RequestItems: { [TableName]: { Keys: [{ pk: { S: pk }, sk: none }] } } },
  ],
  Query: query('pk', {}),
  'Query index': query('gpk', { IndexName: indexName }),
  PutItem: (TableName, pk) => ['PutItem', { TableName, Item: { pk: { S: pk }, sk: none } }],
  UpdateItem: onItem('UpdateItem'),
  DeleteItem: onItem('DeleteItem'),
  ConditionCheckItem: (TableName, pk) => [
    'TransactWriteItems',
    { TransactItems: [{ ConditionCheck: { TableName, Key: { pk: { S: pk }, sk: none } } }] },
  ],
  Scan: (TableName) => ['Scan', { TableName }],
}

/**
 * Lists what the local IAM allows a function of every action on every partition. The requests are only
 * authorized, not sent: the endpoint decides those that are sent in the same way.
 */
export function reachOf(item: FunctionModel, model: StackModel): string[] {
  const findDenial = compileSession(item.arn, { ...item, origin: item.name }, model)
  const tableName = model.tables[0]?.name ?? ''
  const keys = keysFor(item)
  return Object.entries(attempts)
    .flatMap(([action, attempt]) =>
      (action === 'Query index' ? [...keys, ...indexPartitions] : keys)
        .filter((pk) =>
          listAccess(model, ...attempt(tableName, pk)).every((access) => findDenial(access) === undefined),
        )
        .map((pk) => `${action} ${pk}`),
    )
    .sort()
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

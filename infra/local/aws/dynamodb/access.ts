import * as v from 'valibot'
import type { StackModel, TableModel } from '../../model.ts'
import type { AccessRequest } from '../iam/authorize.ts'
import { BatchGet, BatchWrite, findTable, ItemRequest, parse, TableKeys, Transaction } from './requests.ts'
import type { Attributes } from './requests.ts'

const itemOperations = new Set(['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query', 'Scan'])

/** Lists what IAM must allow for a DynamoDB operation: the actions, tables or indexes, and partition keys. */
export function listAccess(model: StackModel, operation: string, input: unknown): AccessRequest[] {
  if (operation === 'BatchGetItem')
    return Object.entries(parse(BatchGet, input).RequestItems).map(([table, { Keys }]) =>
      describeAccess(model, operation, table, Keys),
    )
  if (operation === 'BatchWriteItem')
    return Object.entries(parse(BatchWrite, input).RequestItems).map(([table, writes]) => {
      const keys = writes.map(({ PutRequest, DeleteRequest }) => PutRequest?.Item ?? DeleteRequest?.Key ?? {})
      return describeAccess(model, operation, table, keys)
    })
  // A transaction needs the permission of each of its members: dynamodb:PutItem for `Put`, and so on.
  if (operation === 'TransactGetItems' || operation === 'TransactWriteItems')
    return parse(Transaction, input)
      .TransactItems.flatMap((item) => Object.entries(item))
      .map(([kind, member]) => describeItemAccess(model, `${kind}Item`, member))
  if (itemOperations.has(operation)) return [describeItemAccess(model, operation, parse(ItemRequest, input))]
  const table = v.safeParse(v.object({ TableName: v.string() }), input)
  if (table.success) return [describeAccess(model, operation, table.output.TableName, [])]
  return [{ action: `dynamodb:${operation}`, resource: '*' }]
}

function describeItemAccess(model: StackModel, action: string, request: ItemRequest): AccessRequest {
  const key = request.Item ?? request.Key ?? readKeyCondition(request)
  return describeAccess(model, action, request.TableName, [key], request.IndexName)
}

/** Reads the attributes that a query's key condition compares with `=`, with their values. */
function readKeyCondition(query: ItemRequest): Attributes {
  const comparisons = query.KeyConditionExpression.matchAll(/([#\w.-]+)\s*=\s*(:\w+)/g)
  return Object.fromEntries(
    [...comparisons].map(([, name = '', value = '']) => [
      query.ExpressionAttributeNames[name] ?? name,
      query.ExpressionAttributeValues[value] ?? {},
    ]),
  )
}

function describeAccess(
  model: StackModel,
  action: string,
  reference: string,
  keys: Attributes[],
  index?: string,
): AccessRequest {
  const table = findTable(model, reference)
  const arn = reference.startsWith('arn:')
    ? reference
    : `arn:aws:dynamodb:${model.region}:${model.accountId}:table/${reference}`
  return {
    action: `dynamodb:${action}`,
    resource: index === undefined ? arn : `${arn}/index/${index}`,
    context: { 'dynamodb:LeadingKeys': table && listLeadingKeys(table, keys, index) },
  }
}

/** Lists the partition key values that a request names; none for a scan. */
function listLeadingKeys(table: TableModel, keys: Attributes[], index?: string): string[] {
  const keyed = v.parse(TableKeys, table.createTableInput)
  const indexes = [...keyed.GlobalSecondaryIndexes, ...keyed.LocalSecondaryIndexes]
  const schema = index === undefined ? keyed : indexes.find(({ IndexName }) => IndexName === index)
  const name = schema?.KeySchema.find(({ KeyType }) => KeyType === 'HASH')?.AttributeName ?? ''
  return [...new Set(keys.flatMap((key) => Object.values(key[name] ?? {}).map(String)))]
}

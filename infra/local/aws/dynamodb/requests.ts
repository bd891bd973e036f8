import * as v from 'valibot'
import type { StackModel, TableModel } from '../../model.ts'
import { AwsError } from '../wire/http-messages.ts'

/** Attributes of an item in DynamoDB's JSON, where each value is an object with its type: {"S": "USER#1"}. */
const Attributes = v.record(v.string(), v.record(v.string(), v.unknown()))
export type Attributes = v.InferOutput<typeof Attributes>
/** A request about one item, partition key or table; also one operation of a transaction. */
const ItemRequest = v.object({
  TableName: v.optional(v.string()),
  IndexName: v.optional(v.string()),
  Key: v.optional(Attributes),
  Item: v.optional(Attributes),
  KeyConditionExpression: v.optional(v.string(), ''),
  ExpressionAttributeNames: v.optional(v.record(v.string(), v.string()), {}),
  ExpressionAttributeValues: v.optional(Attributes, {}),
})
type ItemRequest = v.InferOutput<typeof ItemRequest>
const BatchGet = v.object({
  RequestItems: v.record(v.string(), v.object({ Keys: v.array(Attributes) })),
})
const Write = v.object({
  PutRequest: v.optional(v.object({ Item: Attributes })),
  DeleteRequest: v.optional(v.object({ Key: Attributes })),
})
const BatchWrite = v.object({ RequestItems: v.record(v.string(), v.array(Write)) })
const Transaction = v.object({ TransactItems: v.array(v.record(v.string(), ItemRequest)) })

const KeySchema = v.array(v.object({ AttributeName: v.string(), KeyType: v.string() }))
const Indexes = v.optional(v.array(v.object({ IndexName: v.string(), KeySchema })), [])
/** Keys and indexes of a table, as CreateTable takes them. */
export const TableKeys = v.object({
  KeySchema,
  GlobalSecondaryIndexes: Indexes,
  LocalSecondaryIndexes: Indexes,
})

type Tables = Pick<StackModel, 'tables'>

/** Finds a table of the template by its name or ARN. */
export const findTable = ({ tables }: Tables, reference: string): TableModel | undefined =>
  tables.find(({ name, arn }) => name === reference || arn === reference)

/** What a request does with one item, one partition or one table. */
export interface TableUse {
  /** The IAM action without `dynamodb:`. In a transaction, each operation has its own, such as `PutItem`. */
  action: string
  /** Name or ARN of the table; undefined for an operation on no table. */
  table: string | undefined
  index?: string | undefined
  /** The attributes that the request names: those of its item, or those that its query compares with `=`. */
  attributes: Attributes
}

/** Lists what a request does. For a transaction, this includes the items of a `ConditionCheck`. */
export function listTableUses(operation: string, input: unknown): TableUse[] {
  if (operation === 'BatchGetItem')
    return Object.entries(parse(BatchGet, input).RequestItems).flatMap(([table, { Keys }]) =>
      Keys.map((attributes) => ({ action: operation, table, attributes })),
    )
  if (operation === 'BatchWriteItem')
    return Object.entries(parse(BatchWrite, input).RequestItems).flatMap(([table, writes]) =>
      writes.map(({ PutRequest, DeleteRequest }) => ({
        action: operation,
        table,
        attributes: PutRequest?.Item ?? DeleteRequest?.Key ?? {},
      })),
    )
  if (operation === 'TransactGetItems' || operation === 'TransactWriteItems')
    return parse(Transaction, input)
      .TransactItems.flatMap((item) => Object.entries(item))
      .map(([kind, member]) => describeUse(`${kind}Item`, member))
  return [describeUse(operation, parse(ItemRequest, input))]
}

const describeUse = (action: string, request: ItemRequest): TableUse => ({
  action,
  table: request.TableName,
  index: request.IndexName,
  attributes: request.Item ?? request.Key ?? readKeyCondition(request),
})

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

/** Parses a request. Throws ValidationException, without quoting the request, if it is invalid. */
function parse<Schema extends v.GenericSchema>(schema: Schema, input: unknown): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, input)
  if (parsed.success) return parsed.output
  throw new AwsError('ValidationException', 'The request is not valid.')
}

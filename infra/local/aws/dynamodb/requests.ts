import * as v from 'valibot'
import type { StackModel, TableModel } from '../../model.ts'
import { AwsError } from '../wire/http-messages.ts'

/** Attributes of an item in DynamoDB's JSON, where each value is an object with its type: {"S": "USER#1"}. */
export const Attributes = v.record(v.string(), v.record(v.string(), v.unknown()))
export type Attributes = v.InferOutput<typeof Attributes>
/** A request, or a member of a transaction, about one item or one partition key. */
export const ItemRequest = v.object({
  TableName: v.string(),
  IndexName: v.optional(v.string()),
  Key: v.optional(Attributes),
  Item: v.optional(Attributes),
  KeyConditionExpression: v.optional(v.string(), ''),
  ExpressionAttributeNames: v.optional(v.record(v.string(), v.string()), {}),
  ExpressionAttributeValues: v.optional(Attributes, {}),
})
export type ItemRequest = v.InferOutput<typeof ItemRequest>
export const BatchGet = v.object({
  RequestItems: v.record(v.string(), v.object({ Keys: v.array(Attributes) })),
})
const Write = v.object({
  PutRequest: v.optional(v.object({ Item: Attributes })),
  DeleteRequest: v.optional(v.object({ Key: Attributes })),
})
export const BatchWrite = v.object({ RequestItems: v.record(v.string(), v.array(Write)) })
export const Transaction = v.object({ TransactItems: v.array(v.record(v.string(), ItemRequest)) })

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

/** An item that a request writes or checks: its table, and either its key or all its attributes. */
export interface NamedItem {
  table: string
  attributes: Attributes
}

/** Lists the items that a request writes. For a transaction, includes the items of a `ConditionCheck`. */
export function listWrittenItems(operation: string, input: unknown): NamedItem[] {
  if (operation === 'BatchWriteItem')
    return Object.entries(parse(BatchWrite, input).RequestItems).flatMap(([table, writes]) =>
      writes.map(({ PutRequest, DeleteRequest }) => ({
        table,
        attributes: PutRequest?.Item ?? DeleteRequest?.Key ?? {},
      })),
    )
  const requests =
    operation === 'TransactWriteItems'
      ? parse(Transaction, input).TransactItems.flatMap((item) => Object.values(item))
      : singleWrites.has(operation)
        ? [parse(ItemRequest, input)]
        : []
  return requests.map(({ TableName: table, Item: item, Key: key }) => ({
    table,
    attributes: item ?? key ?? {},
  }))
}

const singleWrites = new Set(['PutItem', 'UpdateItem', 'DeleteItem'])

/** Returns the primary key of an item, or all its attributes if its table is not in the template. */
export function keyOf(model: Tables, { table: reference, attributes }: NamedItem): Attributes {
  const table = findTable(model, reference)
  if (table === undefined) return attributes
  const { KeySchema: schema } = v.parse(TableKeys, table.createTableInput)
  return Object.fromEntries(schema.map(({ AttributeName: name }) => [name, attributes[name] ?? {}]))
}

/** Parses a request. Throws ValidationException, without quoting the request, if it is invalid. */
export function parse<Schema extends v.GenericSchema>(schema: Schema, input: unknown): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, input)
  if (parsed.success) return parsed.output
  throw new AwsError('ValidationException', 'The request is not valid.')
}

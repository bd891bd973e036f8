import * as v from 'valibot'
import type { StackModel, TableModel } from '../../model.ts'
import type { AccessRequest } from '../iam/authorize.ts'
import { AwsError } from '../wire/aws-error.ts'
import { AttributeMembers, listAttributes } from './attributes.ts'
import { readKeyCondition } from './key-condition.ts'

const Member = v.object({
  TableName: v.string(),
  IndexName: v.optional(v.string()),
  Select: v.optional(v.string()),
  ReturnValues: v.optional(v.string()),
  ExpressionAttributeValues: v.optional(v.record(v.string(), v.unknown()), {}),
  ...AttributeMembers.entries,
})
type Member = v.InferOutput<typeof Member>

const KeyMap = v.record(v.string(), v.unknown())
const BatchGet = v.object({
  RequestItems: v.record(v.string(), v.object({ Keys: v.array(KeyMap), ...AttributeMembers.entries })),
})
const BatchWrite = v.object({
  RequestItems: v.record(
    v.string(),
    v.array(
      v.object({
        PutRequest: v.optional(v.object({ Item: KeyMap })),
        DeleteRequest: v.optional(v.object({ Key: KeyMap })),
      }),
    ),
  ),
})
const Transaction = v.object({ TransactItems: v.array(v.record(v.string(), Member)) })

/** The IAM action of each kind of member of a transaction. */
const transactionActions: Record<string, string> = {
  Get: 'GetItem',
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
}

const onTables = new Set([
  'GetItem',
  'PutItem',
  'UpdateItem',
  'DeleteItem',
  'Query',
  'Scan',
  'DescribeTable',
  'DescribeTimeToLive',
  'DescribeContinuousBackups',
])

/** What IAM asks before one operation of DynamoDB: the actions, the tables and indexes, and the condition keys. */
export function listAccessRequests(model: StackModel, operation: string, input: unknown): AccessRequest[] {
  if (operation === 'BatchGetItem')
    return Object.entries(parse(BatchGet, input).RequestItems).map(([name, { Keys, ...members }]) => {
      const table = findTable(model, name)
      const attributes = new Set([...Keys.flatMap(Object.keys), ...listAttributes(members)])
      return describeAccess(model, 'BatchGetItem', table, name, {
        'dynamodb:LeadingKeys': leadingKeys(table, undefined, Keys),
        'dynamodb:Attributes': [...attributes],
      })
    })
  if (operation === 'BatchWriteItem')
    return Object.entries(parse(BatchWrite, input).RequestItems).map(([name, writes]) => {
      const table = findTable(model, name)
      const items = writes.map(
        ({ PutRequest, DeleteRequest }) => PutRequest?.Item ?? DeleteRequest?.Key ?? {},
      )
      return describeAccess(model, 'BatchWriteItem', table, name, {
        'dynamodb:LeadingKeys': leadingKeys(table, undefined, items),
        'dynamodb:Attributes': [...new Set(items.flatMap(Object.keys))],
      })
    })
  if (operation === 'TransactGetItems' || operation === 'TransactWriteItems')
    return parse(Transaction, input).TransactItems.flatMap((item) =>
      Object.entries(item).map(([kind, member]) =>
        ofMember(model, transactionActions[kind] ?? kind, member, operation),
      ),
    )
  if (onTables.has(operation)) return [ofMember(model, operation, parse(Member, input), undefined)]
  const table = v.safeParse(v.object({ TableName: v.string() }), input)
  const resource = table.success
    ? arnOf(model, findTable(model, table.output.TableName), table.output.TableName)
    : '*'
  return [{ action: `dynamodb:${operation}`, resource }]
}

function ofMember(
  model: StackModel,
  action: string,
  member: Member,
  enclosing: string | undefined,
): AccessRequest {
  const table = findTable(model, member.TableName)
  const keys = [member.Item ?? member.Key ?? readKeyCondition(member)]
  const request = describeAccess(model, action, table, member.TableName, {
    'dynamodb:LeadingKeys': leadingKeys(table, member.IndexName, keys),
    'dynamodb:Attributes': listAttributes(member),
    'dynamodb:Select':
      member.Select ?? (member.ProjectionExpression === undefined ? undefined : 'SPECIFIC_ATTRIBUTES'),
    'dynamodb:ReturnValues': member.ReturnValues,
    'dynamodb:EnclosingOperation': enclosing,
  })
  return member.IndexName === undefined
    ? request
    : { ...request, resource: `${request.resource}/index/${member.IndexName}` }
}

function describeAccess(
  model: StackModel,
  operation: string,
  table: TableModel | undefined,
  name: string,
  context: NonNullable<AccessRequest['context']>,
): AccessRequest {
  return { action: `dynamodb:${operation}`, resource: arnOf(model, table, name), context }
}

function findTable(model: StackModel, reference: string): TableModel | undefined {
  return model.tables.find((table) => table.name === reference || table.arn === reference)
}

function arnOf(model: StackModel, table: TableModel | undefined, reference: string): string {
  if (table !== undefined) return table.arn
  return reference.startsWith('arn:')
    ? reference
    : `arn:aws:dynamodb:${model.region}:${model.accountId}:table/${reference}`
}

const KeySchema = v.array(v.object({ AttributeName: v.string(), KeyType: v.string() }))
const TableKeys = v.object({
  KeySchema,
  GlobalSecondaryIndexes: v.optional(v.array(v.object({ IndexName: v.string(), KeySchema })), []),
  LocalSecondaryIndexes: v.optional(v.array(v.object({ IndexName: v.string(), KeySchema })), []),
})

/** The values of the partition key that a request names; undefined where it names none, as a scan. */
function leadingKeys(
  table: TableModel | undefined,
  indexName: string | undefined,
  keys: Record<string, unknown>[],
): string[] | undefined {
  if (table === undefined) return undefined
  const description = v.parse(TableKeys, table.createTableInput)
  const indexes = [...description.GlobalSecondaryIndexes, ...description.LocalSecondaryIndexes]
  const schema =
    indexName === undefined ? description : indexes.find(({ IndexName }) => IndexName === indexName)
  const name = schema?.KeySchema.find(({ KeyType }) => KeyType === 'HASH')?.AttributeName
  if (name === undefined) return undefined
  const values = keys.flatMap((key) => readScalar(key[name]) ?? [])
  return values.length === 0 ? undefined : [...new Set(values)]
}

const Scalar = v.union([
  v.object({ S: v.string() }),
  v.object({ N: v.string() }),
  v.object({ B: v.string() }),
])

function readScalar(value: unknown): string | undefined {
  const parsed = v.safeParse(Scalar, value)
  return parsed.success ? Object.values(parsed.output)[0] : undefined
}

function parse<Schema extends v.GenericSchema>(schema: Schema, input: unknown): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, input)
  if (parsed.success) return parsed.output
  throw new AwsError('ValidationException', 'The request is not valid.')
}

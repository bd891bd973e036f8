import { Agent, request as startRequest, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import * as v from 'valibot'
import type { StackModel, TableModel } from '../../model.ts'
import type { AccessRequest } from '../iam/authorize.ts'
import { AwsError, parseJson, type Answer, type AwsRequest } from '../wire/http-messages.ts'
import type { Service } from '../wire/operation.ts'

/** Emulates DynamoDB: passes requests that IAM allows on to DynamoDB Local unchanged. */
export function openDynamodbProxy(model: StackModel, endpoint: string) {
  const target = new URL(endpoint)
  const agent = new Agent({ keepAlive: true, scheduling: 'lifo' })
  const service: Service = (request) => {
    if (!request.target.service.startsWith('DynamoDB')) return undefined
    return {
      access: () => listAccess(model, request.target.operation, parseJson(request.body)),
      run: () => {
        if (request.target.operation === 'TransactWriteItems')
          refuseRepeatedItems(model, parseJson(request.body))
        return pass(request, target, agent)
      },
    }
  }
  return { service, close: () => agent.destroy() }
}

// Headers that concern one connection only (RFC 9110 section 7.6.1), or whose value is computed anew.
const connectionHeaders = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length'])

async function pass(request: AwsRequest, target: URL, agent: Agent): Promise<Answer> {
  const message = await new Promise<IncomingMessage>((resolve, reject) => {
    const passed = startRequest(target, {
      agent,
      method: request.method,
      path: request.path,
      headers: {
        ...request.headers,
        host: target.host,
        connection: 'keep-alive',
        'content-length': request.body.length,
        // DynamoDB Local accepts only letters and digits in access keys; replace the caller's.
        authorization: request.headers.authorization?.replace(/Credential=[^/]+/, 'Credential=local'),
      },
    })
    passed.on('response', resolve).on('error', reject).end(request.body)
  })
  const headers = Object.entries(message.headers).filter(([name]) => !connectionHeaders.has(name))
  const status = message.statusCode ?? 502
  return { status, headers: Object.fromEntries(headers), body: await buffer(message) }
}

const Attributes = v.record(v.string(), v.record(v.string(), v.unknown()))
type Attributes = v.InferOutput<typeof Attributes>
const ItemRequest = v.object({
  TableName: v.string(),
  IndexName: v.optional(v.string()),
  Key: v.optional(Attributes),
  Item: v.optional(Attributes),
  KeyConditionExpression: v.optional(v.string(), ''),
  ExpressionAttributeNames: v.optional(v.record(v.string(), v.string()), {}),
  ExpressionAttributeValues: v.optional(Attributes, {}),
})
type ItemRequest = v.InferOutput<typeof ItemRequest>
const BatchGet = v.object({ RequestItems: v.record(v.string(), v.object({ Keys: v.array(Attributes) })) })
const Write = v.object({
  PutRequest: v.optional(v.object({ Item: Attributes })),
  DeleteRequest: v.optional(v.object({ Key: Attributes })),
})
const BatchWrite = v.object({ RequestItems: v.record(v.string(), v.array(Write)) })
const Transaction = v.object({ TransactItems: v.array(v.record(v.string(), ItemRequest)) })
const itemOperations = new Set(['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query', 'Scan'])

/**
 * Rejects a transaction with two operations on one item, as AWS does (Amazon DynamoDB: TransactWriteItems).
 * DynamoDB Local runs both, which would hide the mistake.
 */
function refuseRepeatedItems(model: StackModel, input: unknown): void {
  const names = parse(Transaction, input)
    .TransactItems.flatMap((item) => Object.values(item))
    .map(
      ({ TableName: table, Key: key, Item: item }) => `${table} ${keyText(model, table, item ?? key ?? {})}`,
    )
  if (new Set(names).size < names.length)
    throw new AwsError(
      'ValidationException',
      'Transaction request cannot include multiple operations on one item',
    )
}

/** Returns the primary key of an item as text; all attributes for a table that is not in the template. */
function keyText({ tables }: StackModel, reference: string, attributes: Attributes): string {
  const table = tables.find(({ name, arn }) => name === reference || arn === reference)
  if (table === undefined) return JSON.stringify(attributes)
  const { KeySchema: schema } = v.parse(TableKeys, table.createTableInput)
  return JSON.stringify(schema.map(({ AttributeName }) => attributes[AttributeName]))
}

/** Lists what IAM must allow for a DynamoDB operation: actions, tables or indexes, partition keys. */
function listAccess(model: StackModel, operation: string, input: unknown): AccessRequest[] {
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
  { tables, region, accountId }: StackModel,
  action: string,
  reference: string,
  keys: Attributes[],
  index?: string,
): AccessRequest {
  const table = tables.find(({ name, arn }) => name === reference || arn === reference)
  const arn = reference.startsWith('arn:')
    ? reference
    : `arn:aws:dynamodb:${region}:${accountId}:table/${reference}`
  return {
    action: `dynamodb:${action}`,
    resource: index === undefined ? arn : `${arn}/index/${index}`,
    context: { 'dynamodb:LeadingKeys': table && listLeadingKeys(table, keys, index) },
  }
}

const KeySchema = v.array(v.object({ AttributeName: v.string(), KeyType: v.string() }))
const Indexes = v.optional(v.array(v.object({ IndexName: v.string(), KeySchema })), [])
const TableKeys = v.object({ KeySchema, GlobalSecondaryIndexes: Indexes, LocalSecondaryIndexes: Indexes })

/** Lists the partition key values that a request names; none for a scan. */
function listLeadingKeys(table: TableModel, keys: Attributes[], index?: string): string[] {
  const keyed = v.parse(TableKeys, table.createTableInput)
  const indexes = [...keyed.GlobalSecondaryIndexes, ...keyed.LocalSecondaryIndexes]
  const schema = index === undefined ? keyed : indexes.find(({ IndexName }) => IndexName === index)
  const name = schema?.KeySchema.find(({ KeyType }) => KeyType === 'HASH')?.AttributeName ?? ''
  // A DynamoDB value is an object of its type and text: {"S": "USER#1"}.
  return [...new Set(keys.flatMap((key) => Object.values(key[name] ?? {}).map(String)))]
}

function parse<Schema extends v.GenericSchema>(schema: Schema, input: unknown): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, input)
  if (parsed.success) return parsed.output
  throw new AwsError('ValidationException', 'The request is not valid.')
}

import * as dynamodb from '@aws-sdk/client-dynamodb'
import { createTables } from '../../dynamodb/create-tables.ts'
import { openDatabase } from '../../dynamodb/own-database.ts'
import type { Answer } from '../wire/http-messages.ts'
import type { Manners } from '../../manners.ts'
import type { StackModel } from '../../model.ts'
import { findTable, keyOf, type NamedItem } from './requests.ts'

/** Maximum time after which the replica has a write, as AWS says of reads: "usually a second or less". */
const maxLagMilliseconds = 1000
/** Probability that an eventually consistent read of a table meets the replica that lags: one of three. */
const staleProbability = 1 / 3
const flushMilliseconds = 50
/** Maximum number of items in one BatchWriteItem call. */
const maxBatchItems = 25

/** A read that goes to the replica: its request, and how to make the table's answer of the replica's. */
interface StaleRead {
  input: object
  restore: (answer: Answer) => Answer
}

interface ReplicaOptions {
  model: Pick<StackModel, 'tables'>
  /** URL of DynamoDB Local. */
  endpoint: string
  manners: Manners
  /** Receives a line for each failed copy. */
  report: (problem: string) => void
}

/** Name of the table that lags behind another. */
const replicaOf = (table: string): string => `${table}.replica`

/**
 * Opens a second table in DynamoDB Local for every table of the template, which gets each write after a drawn
 * time of up to a second. Reads go there as they are, so that DynamoDB Local evaluates their expressions.
 */
export async function openReplica({ model, endpoint, manners, report }: ReplicaOptions) {
  const client = openDatabase(endpoint)
  /** Items that the replica has not yet, by table and key, and the instant at which it gets them. */
  const pending = new Map<string, NamedItem & { at: number }>()

  const add = (item: NamedItem, at: number) => {
    const table = findTable(model, item.table)?.name
    if (table === undefined) return
    const attributes = keyOf(model, item)
    const id = `${table} ${JSON.stringify(attributes)}`
    // A copy takes the item as it is then, so an earlier one that is pending serves for this write as well.
    if (!pending.has(id)) pending.set(id, { table, attributes, at })
  }
  const flush = async (): Promise<void> => {
    const due = [...pending].filter(([, { at }]) => at <= Date.now())
    for (const [id] of due) pending.delete(id)
    for (const { name } of model.tables) {
      const keys = due
        .filter(([, { table }]) => table === name)
        .map(([, { attributes }]) => attributes as unknown as Key)
      for (let i = 0; i < keys.length; i += maxBatchItems)
        await copyItems(client, name, keys.slice(i, i + maxBatchItems))
    }
  }

  for (const table of model.tables) {
    const name = replicaOf(table.name)
    await deleteTable(client, name)
    const createTableInput = { ...table.createTableInput, TableName: name }
    await createTables(endpoint, [{ ...table, name, createTableInput, ttlAttribute: undefined }])
    for await (const page of dynamodb.paginateScan({ client }, { TableName: table.name }))
      for (const attributes of page.Items ?? [])
        add({ table: table.name, attributes: attributes as object as NamedItem['attributes'] }, 0)
    await flush()
  }
  let flushing = Promise.resolve()
  const flushLater = () => {
    flushing = flushing.then(flush).catch((error: unknown) => report(`the replica: ${String(error)}`))
  }
  const timer = setInterval(flushLater, flushMilliseconds).unref()

  return {
    /** Copies written items after a drawn time. */
    copyLater(stream: string, items: NamedItem[]): void {
      if (items.length === 0) return
      const at = Date.now() + manners.draw('stale-reads', `${stream} lag`) * maxLagMilliseconds
      for (const item of items) add(item, at)
    },
    /** Draws whether a read is stale: those of an index always are. Undefined if it is not. */
    redirect(stream: string, operation: string, input: unknown): StaleRead | undefined {
      const redirected = redirectRead(operation, input as ReadInput)
      if (redirected === undefined) return undefined
      const ofIndex = (input as ReadInput).IndexName !== undefined
      if (!ofIndex && !manners.happens('stale-reads', stream, staleProbability)) return undefined
      return { input: redirected, restore }
    },
    async close(): Promise<void> {
      clearInterval(timer)
      await flushing
      client.destroy()
    },
  }

  function restore({ status, headers, body }: Answer): Answer {
    let text = body.toString()
    for (const { name } of model.tables) text = text.replaceAll(`"${replicaOf(name)}"`, `"${name}"`)
    // The checksum is that of the replica's own answer.
    const kept = Object.entries(headers).filter(([name]) => name !== 'x-amz-crc32')
    return { status, headers: Object.fromEntries(kept), body: text }
  }

  /** The same read of the replica; undefined if this is no read, or a strongly consistent one. */
  function redirectRead(operation: string, input: ReadInput): ReadInput | undefined {
    const replica = (reference = '') => {
      const table = findTable(model, reference)
      return table && replicaOf(table.name)
    }
    if (operation === 'BatchGetItem') {
      const tables = Object.entries(input.RequestItems ?? {})
      const RequestItems = Object.fromEntries(
        tables.map(([table, keys]) => [keys.ConsistentRead ? table : (replica(table) ?? table), keys]),
      )
      return tables.every(([table]) => Object.hasOwn(RequestItems, table))
        ? undefined
        : { ...input, RequestItems }
    }
    const TableName = replica(input.TableName)
    if (!['GetItem', 'Query', 'Scan'].includes(operation) || input.ConsistentRead || TableName === undefined)
      return undefined
    return { ...input, TableName }
  }
}

/** The members of a read that say where and how it reads. */
interface ReadInput {
  TableName?: string
  IndexName?: string
  ConsistentRead?: boolean
  RequestItems?: Record<string, { ConsistentRead?: boolean }>
}

type Key = Record<string, dynamodb.AttributeValue>

async function copyItems(client: dynamodb.DynamoDBClient, table: string, Keys: Key[]): Promise<void> {
  const RequestItems = { [table]: { Keys, ConsistentRead: true } }
  const { Responses = {} } = await client.send(new dynamodb.BatchGetItemCommand({ RequestItems }))
  const items = Responses[table] ?? []
  const gone = Keys.filter((key) => !items.some((item) => hasKey(item, key)))
  const writes = [
    ...items.map((Item) => ({ PutRequest: { Item } })),
    ...gone.map((Key) => ({ DeleteRequest: { Key } })),
  ]
  await client.send(new dynamodb.BatchWriteItemCommand({ RequestItems: { [replicaOf(table)]: writes } }))
}

const hasKey = (item: Key, key: Key): boolean =>
  Object.entries(key).every(([name, value]) => JSON.stringify(item[name]) === JSON.stringify(value))

async function deleteTable(client: dynamodb.DynamoDBClient, TableName: string): Promise<void> {
  try {
    await client.send(new dynamodb.DeleteTableCommand({ TableName }))
  } catch (error) {
    if (!(error instanceof dynamodb.ResourceNotFoundException)) throw error
  }
}

import {
  ConditionalCheckFailedException,
  ResourceNotFoundException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb'
import { holds } from './conditions.ts'
import { type LagOf, type Query, type Scan, Table, type TableInput } from './table.ts'
import type { Placeholders } from './tokens.ts'
import { update } from './updates.ts'
import { type Attributes, validationError } from './values.ts'

/** A write or a condition check of one item. */
interface Write extends Placeholders {
  TableName: string
  Item?: Attributes
  Key?: Attributes
  UpdateExpression?: string
  ConditionExpression?: string
  ReturnValues?: string
  ReturnValuesOnConditionCheckFailure?: string
}
type WriteKind = 'Put' | 'Update' | 'Delete' | 'ConditionCheck'
interface Transaction {
  TransactItems: Partial<Record<WriteKind, Write>>[]
  ClientRequestToken?: string
}
type Batch<T> = { RequestItems: Record<string, T> }
type BatchRead = Read & { Keys: Attributes[] }
type BatchWrites = { PutRequest?: { Item: Attributes }; DeleteRequest?: { Key: Attributes } }[]

/** A write whose condition holds, but which is not performed yet. */
interface Prepared {
  /** Identifies the item: the name of its table and the name of its key. */
  name: string
  perform: () => void
  read: () => Attributes | undefined
}

const metadata = { $metadata: { httpStatusCode: 400 } }
const maxTransactionWrites = 100
/** How long DynamoDB remembers the token of a transaction (Amazon DynamoDB: TransactWriteItems). */
const tokenMilliseconds = 600_000

interface Read {
  ConsistentRead?: boolean
}

/** Decides whether a read shows old items. If so, returns a function that tells how old each item is. */
export type DrawLag = (operation: string) => LagOf | undefined

/**
 * DynamoDB in memory, with the operations and expressions that the service uses. Performs one operation at a
 * time. Inputs, answers and errors have the form of the SDK's low-level client.
 */
export class Database {
  readonly #tables = new Map<string, Table>()
  readonly #tokens = new Map<string, { content: string; at: number }>()
  readonly #now: () => number
  readonly #drawLag: DrawLag

  /** Without `drawLag`, every read shows the latest write. */
  constructor(now: () => number, drawLag: DrawLag = () => undefined) {
    this.#now = now
    this.#drawLag = drawLag
  }

  /** Performs an operation, named as in DynamoDB's protocol. */
  run(operation: string, input: object): object {
    const perform = this.#operations[operation]
    if (perform === undefined) throw new Error(`the database in memory has no ${operation}`)
    return perform(input as never)
  }

  readonly #operations: Record<string, (input: never) => object> = {
    CreateTable: (input: TableInput) => {
      this.#tables.set(input.TableName, new Table(input, this.#now))
      return {}
    },
    DescribeTable: ({ TableName }: TableInput) => ({ Table: this.#table(TableName).input }),
    DeleteTable: ({ TableName }: TableInput) => {
      this.#table(TableName)
      this.#tables.delete(TableName)
      return {}
    },
    GetItem: (input: Read & { TableName: string; Key: Attributes }) => {
      const Item = this.#table(input.TableName).get(input.Key, this.#lagOf('GetItem', input))
      return Item === undefined ? {} : { Item }
    },
    BatchGetItem: ({ RequestItems }: Batch<BatchRead>) => {
      const read = ([name, { Keys, ...input }]: [string, BatchRead]) => {
        const table = this.#table(name)
        if (new Set(Keys.map((key) => table.nameOf(key))).size < Keys.length)
          throw validationError('Provided list of item keys contains duplicates')
        const lagOf = this.#lagOf('BatchGetItem', input)
        return [name, Keys.flatMap((key) => table.get(key, lagOf) ?? [])] as const
      }
      return { Responses: Object.fromEntries(Object.entries(RequestItems).map(read)), UnprocessedKeys: {} }
    },
    Query: (input: Query & Read & { TableName: string }) =>
      this.#table(input.TableName).query(input, this.#lagOf('Query', input)),
    Scan: (input: Scan & { TableName: string }) => this.#table(input.TableName).scan(input),
    PutItem: (write: Write) => this.#write('Put', write),
    UpdateItem: (write: Write) => this.#write('Update', write),
    DeleteItem: (write: Write) => this.#write('Delete', write),
    BatchWriteItem: ({ RequestItems }: Batch<BatchWrites>) => {
      for (const [name, writes] of Object.entries(RequestItems))
        for (const { PutRequest, DeleteRequest } of writes) {
          if (PutRequest !== undefined) this.#table(name).put(PutRequest.Item)
          if (DeleteRequest !== undefined) this.#table(name).delete(DeleteRequest.Key)
        }
      return { UnprocessedItems: {} }
    },
    TransactWriteItems: (input: Transaction) => this.#transact(input),
  }

  #lagOf(operation: string, { ConsistentRead }: Read): LagOf | undefined {
    return ConsistentRead === true ? undefined : this.#drawLag(operation)
  }

  #table(name: string): Table {
    const table = this.#tables.get(name)
    if (table === undefined) throw new ResourceNotFoundException({ message: name, ...metadata })
    return table
  }

  /** Prepares a write, without effect yet. Throws ConditionalCheckFailedException if its condition fails. */
  #prepare(kind: WriteKind, write: Write): Prepared {
    const table = this.#table(write.TableName)
    const key = write.Key ?? write.Item ?? {}
    const before = kind === 'Put' ? table.get(keyIn(table, key)) : table.get(key)
    if (!holds(write.ConditionExpression, write, before)) {
      const isShown = write.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' && before !== undefined
      const message = 'The conditional request failed'
      throw new ConditionalCheckFailedException({
        message,
        ...metadata,
        ...(isShown && { Item: before as never }),
      })
    }
    const after =
      kind === 'Put'
        ? write.Item
        : kind === 'Update'
          ? update(write.UpdateExpression ?? '', write, before ?? key)
          : kind === 'ConditionCheck'
            ? before
            : undefined
    const perform = () => {
      if (after === undefined) table.delete(key)
      else if (kind !== 'ConditionCheck') table.put(after)
    }
    const name = `${write.TableName} ${table.nameOf(key)}`
    return { name, perform, read: () => table.get(keyIn(table, key)) }
  }

  #write(kind: WriteKind, write: Write): object {
    const { perform, read } = this.#prepare(kind, write)
    perform()
    return write.ReturnValues === 'ALL_NEW' ? { Attributes: read() } : {}
  }

  #transact({ TransactItems, ClientRequestToken: token = '' }: Transaction): object {
    const content = JSON.stringify(TransactItems)
    const earlier = this.#tokens.get(token)
    const now = this.#now()
    if (earlier !== undefined && now - earlier.at < tokenMilliseconds) {
      if (earlier.content === content) return {}
      const name = 'IdempotentParameterMismatchException'
      throw Object.assign(new Error(name), { name, ...metadata })
    }
    if (TransactItems.length > maxTransactionWrites)
      throw validationError('a transaction has too many writes')
    const prepared = TransactItems.map((item): Prepared | ConditionalCheckFailedException => {
      const [[kind, write] = []] = Object.entries(item)
      try {
        return this.#prepare(kind as WriteKind, write as Write)
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return error
        throw error
      }
    })
    const writes = prepared.filter((one) => isPrepared(one))
    if (new Set(writes.map(({ name }) => name)).size < writes.length)
      throw validationError('Transaction request cannot include multiple operations on one item')
    if (writes.length < prepared.length) throw cancellation(prepared)
    for (const { perform } of writes) perform()
    if (token !== '') this.#tokens.set(token, { content, at: now })
    return {}
  }
}

const isPrepared = (one: Prepared | ConditionalCheckFailedException): one is Prepared => 'perform' in one

const keyIn = (table: Table, item: Attributes): Attributes =>
  Object.fromEntries(
    table.input.KeySchema.flatMap(({ AttributeName: name }) =>
      item[name] === undefined ? [] : [[name, item[name]]],
    ),
  )

/** The error of a transaction that is cancelled because of failed conditions. */
function cancellation(prepared: readonly object[]): Error {
  const reasons = prepared.map((one) =>
    one instanceof ConditionalCheckFailedException
      ? { Code: 'ConditionalCheckFailed', Message: one.message, ...(one.Item && { Item: one.Item }) }
      : { Code: 'None' },
  )
  const codes = reasons.map(({ Code }) => Code).join(', ')
  const message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`
  return new TransactionCanceledException({ message, ...metadata, CancellationReasons: reasons })
}

import { holds } from './conditions.ts'
import type { Placeholders } from './tokens.ts'
import { type Attributes, compare, toStoredItem, typeOf, type Value, validationError } from './values.ts'

/** The settings with which a table is created. */
export interface TableInput {
  TableName: string
  KeySchema: KeySchema
  GlobalSecondaryIndexes?: { IndexName: string; KeySchema: KeySchema; Projection?: Projection }[]
}
type KeySchema = { AttributeName: string; KeyType: string }[]
interface Projection {
  ProjectionType?: string
}

/** A query of a table or of one of its indexes. */
export interface Query extends Placeholders {
  IndexName?: string
  KeyConditionExpression: string
  FilterExpression?: string
  ProjectionExpression?: string
  ScanIndexForward?: boolean
  Limit?: number
  ExclusiveStartKey?: Attributes
}

/** A scan of a table, or of one of its segments. */
export interface Scan extends Placeholders {
  FilterExpression?: string
  Segment?: number
}

/** A page of items, and the key after which the next page begins; without a key there are no more pages. */
export interface Page {
  Items: Attributes[]
  Count: number
  LastEvaluatedKey?: Attributes
}

/** Returns how many milliseconds a read lags behind the writes of an item. `name` identifies the item. */
export type LagOf = (name: string) => number

const current: LagOf = () => 0
/** Longest lag of an eventually consistent read (DynamoDB: read consistency, "usually within one second"). */
const maxLagMilliseconds = 1_000

/** The states of an item with their write times, oldest first. After a deletion, `item` is undefined. */
type States = { at: number; item: Attributes | undefined }[]

/** The items of one table, with the older states that an eventually consistent read can still show. */
export class Table {
  readonly input: TableInput
  /** For each partition key, a map of the partition's items by full primary key. Both keys are strings. */
  readonly #partitions = new Map<string, Map<string, States>>()
  readonly #keys: string[]
  readonly #now: () => number

  constructor(input: TableInput, now: () => number) {
    this.input = input
    this.#keys = namesOf(input.KeySchema)
    this.#now = now
  }

  /** Formats a key, or the key of an item, as text. */
  nameOf(item: Attributes): string {
    return JSON.stringify(this.#keys.map((name) => textOf(name, item[name])))
  }

  #partitionOf(item: Attributes): Map<string, States> {
    const [hash = ''] = this.#keys
    const name = textOf(hash, item[hash])
    const known = this.#partitions.get(name) ?? new Map<string, States>()
    this.#partitions.set(name, known)
    return known
  }

  #all(): [string, States][] {
    return [...this.#partitions.values()].flatMap((items) => [...items])
  }

  #read(items: Iterable<[string, States]>, lagOf: LagOf): Attributes[] {
    return [...items].flatMap(([name, states]): Attributes[] => {
      const item = this.#show(name, states, lagOf)
      return item === undefined ? [] : [item]
    })
  }

  #show(name: string, states: States, lagOf: LagOf): Attributes | undefined {
    const newest = states.at(-1)
    const isSettled = newest === undefined || newest.at <= this.#now() - maxLagMilliseconds
    if (lagOf === current || isSettled) return newest?.item
    const shown = this.#now() - lagOf(name)
    return states.findLast(({ at }) => at <= shown)?.item
  }

  #write(key: Attributes, item: Attributes | undefined): void {
    const [partition, name, now] = [this.#partitionOf(key), this.nameOf(key), this.#now()]
    const states = partition.get(name) ?? []
    const settled = states.findLastIndex(({ at }) => at <= now - maxLagMilliseconds)
    partition.set(name, [...states.slice(Math.max(0, settled)), { at: now, item }])
  }

  get(key: Attributes, lagOf: LagOf = current): Attributes | undefined {
    if (Object.keys(key).length !== this.#keys.length) throw validationError('a key has other attributes')
    const name = this.nameOf(key)
    return this.#show(name, this.#partitionOf(key).get(name) ?? [], lagOf)
  }

  put(item: Attributes): void {
    for (const { KeySchema } of this.input.GlobalSecondaryIndexes ?? [])
      for (const name of namesOf(KeySchema)) if (item[name] !== undefined) textOf(name, item[name])
    this.#write(item, toStoredItem(item))
  }

  delete(key: Attributes): void {
    this.#write(key, undefined)
  }

  /** Reads all items that meet the filter. In a parallel scan, segment 0 gets all items, the others none. */
  scan({ FilterExpression, Segment = 0, ...placeholders }: Scan): Page {
    const all = Segment === 0 ? this.#all() : []
    const Items = this.#read(all, current).filter((item) => holds(FilterExpression, placeholders, item))
    return { Items, Count: Items.length }
  }

  query(query: Query, lagOf: LagOf = current): Page {
    const index = this.input.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === query.IndexName)
    if (query.IndexName !== undefined && index === undefined) throw validationError('there is no such index')
    const [hash = '', range = ''] = namesOf((index ?? this.input).KeySchema)
    // Index entries with the same index key are in the order of their table keys.
    const order = [range, ...this.#keys]
    const names = [...new Set([hash, ...order])]
    const sign = query.ScanIndexForward === false ? -1 : 1
    const compareItems = (one: Attributes, other: Attributes): number => {
      for (const name of order) {
        const difference = compare(one[name], other[name]) ?? 0
        if (difference !== 0) return sign * difference
      }
      return 0
    }
    const { ExclusiveStartKey: start, Limit = Infinity } = query
    const partition = index === undefined ? valueOf(hash, query) : undefined
    const items = partition === undefined ? this.#all() : this.#partitionOf({ [hash]: partition })
    const found = this.#read(items, lagOf)
      .filter((item) => item[hash] !== undefined && item[range] !== undefined)
      .filter((item) => holds(query.KeyConditionExpression, query, item))
      .sort(compareItems)
      .filter((item) => start === undefined || compareItems(item, start) > 0)
    const page = found.slice(0, Limit)
    const isProjected = index?.Projection?.ProjectionType === 'KEYS_ONLY'
    const Items = page
      .filter((item) => holds(query.FilterExpression, query, item))
      .map((item) => (isProjected ? pick(item, names) : project(item, query)))
    const last = page.at(-1)
    const isPart = last !== undefined && page.length === Limit
    return { Items, Count: Items.length, ...(isPart && { LastEvaluatedKey: pick(last, names) }) }
  }
}

function valueOf(name: string, query: Query): Value | undefined {
  const [, path = '', value = ''] = /^(\S+) = (:\w+)/.exec(query.KeyConditionExpression) ?? []
  const isName = (query.ExpressionAttributeNames?.[path] ?? path) === name
  return isName ? query.ExpressionAttributeValues?.[value] : undefined
}

const namesOf = (schema: KeySchema): string[] => schema.map(({ AttributeName }) => AttributeName)

/** The text of a key attribute. Throws DynamoDB's validation error if the value is not a valid key. */
function textOf(name: string, value: Value | undefined): string {
  const [type, held] = typeOf(value ?? { NULL: true })
  if (type !== 'S' || held === '') throw validationError(`${name} of a key is no text, or empty`)
  return held as string
}

const pick = (item: Attributes, names: readonly string[]): Attributes =>
  Object.fromEntries(names.flatMap((name) => (item[name] === undefined ? [] : [[name, item[name]]])))

function project(item: Attributes, { ProjectionExpression, ExpressionAttributeNames = {} }: Query) {
  if (ProjectionExpression === undefined) return item
  const names = ProjectionExpression.split(',').map((name) => name.trim())
  return pick(
    item,
    names.map((name) => ExpressionAttributeNames[name] ?? name),
  )
}

import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { listWrittenItems } from '../../../infra/local/aws/dynamodb/requests.ts'
import {
  billedReadUnits,
  billedWriteUnits,
  grownBytes,
  type ReadKind,
  type WrittenItem,
} from '../../support/billed-units.ts'
import { itemBytes, type WireItem } from '../../support/item-bytes.ts'

/** A call of a function to an AWS service, as AWS would bill it. */
export interface AwsCall {
  service: 'dynamodb' | 'kms' | 'sqs' | 'events' | 'ses' | 'other'
  operation: string
  /** When the call came and when it was answered, in milliseconds of `performance.now()`. */
  startedAt: number
  endedAt: number
  readUnits: number
  writeUnits: number
  /** By how many bytes the call made the table grow, without items that expire. */
  keptBytes: number
}

/** The key of an item of the service's table. */
export interface ItemKey {
  pk: AttributeValue
  sk: AttributeValue
}

interface ReadInput {
  Key?: ItemKey
  RequestItems?: Record<string, { Keys?: ItemKey[]; ConsistentRead?: boolean }>
  ConsistentRead?: boolean
  TransactItems?: { Get?: { Key: ItemKey } }[]
}

const keyOf = ({ pk, sk }: Record<string, unknown>): ItemKey => ({ pk, sk }) as ItemKey

/** Lists the items that a DynamoDB call writes or checks. */
export const writtenKeys = (operation: string, input: unknown): ItemKey[] =>
  listWrittenItems(operation, input).map(({ attributes }) => keyOf(attributes))

/** Lists the items that a DynamoDB call reads by their keys, and how each is read. */
export function readKeys(input: ReadInput): { key: ItemKey; kind: ReadKind }[] {
  const kindOf = (consistent = false): ReadKind => (consistent ? 'consistent' : 'eventual')
  const transaction = (input.TransactItems ?? []).flatMap(({ Get }) => (Get === undefined ? [] : [Get.Key]))
  const batches = Object.values(input.RequestItems ?? {}).flatMap(({ Keys = [], ConsistentRead }) =>
    Keys.map((key) => ({ key: keyOf({ ...key }), kind: kindOf(ConsistentRead) })),
  )
  const single = input.Key === undefined ? [] : [{ key: input.Key, kind: kindOf(input.ConsistentRead) }]
  return [...single, ...batches, ...transaction.map((key) => ({ key, kind: 'transaction' as const }))]
}

/** Whether a DynamoDB operation writes. */
export const isWrite = (operation: string): boolean =>
  /^(Put|Update|Delete|TransactWrite|BatchWrite)/.test(operation)

/** Bills the items that a call wrote or checked. */
export function billWrites(operation: string, items: readonly WrittenItem[]) {
  const inTransaction = operation === 'TransactWriteItems'
  return {
    writeUnits: sum(items.map((item) => billedWriteUnits(item, inTransaction))),
    keptBytes: sum(items.map((item) => grownBytes({ before: kept(item.before), after: kept(item.after) }))),
  }
}

/** Bills the items that a call read by their keys. */
export const billReads = (items: readonly { item: WireItem | undefined; kind: ReadKind }[]): number =>
  sum(items.map(({ item, kind }) => billedReadUnits(item === undefined ? 0 : itemBytes(item), kind)))

/**
 * Bills a Query by what DynamoDB Local counts, which is right for queries that find something: the bytes of
 * filtered items are in no answer.
 */
export function billQuery(input: { ConsistentRead?: boolean }, answer: unknown): number {
  const { ConsumedCapacity } = answer as { ConsumedCapacity?: { CapacityUnits?: number } }
  return Math.max(
    ConsumedCapacity?.CapacityUnits ?? 0,
    billedReadUnits(0, input.ConsistentRead ? 'consistent' : 'eventual'),
  )
}

/** An item that is kept for ever; one that expires adds nothing in the long run. */
const kept = (item: WireItem | undefined): WireItem | undefined =>
  item?.['ttl'] === undefined ? item : undefined

/** The number of calls in the longest chain of which each began after the one before had been answered. */
export function longestChain(calls: readonly Pick<AwsCall, 'startedAt' | 'endedAt'>[]): number {
  const chains: { endedAt: number; length: number }[] = []
  for (const { startedAt, endedAt } of calls.toSorted((a, b) => a.startedAt - b.startedAt)) {
    const before = chains.filter((chain) => chain.endedAt <= startedAt).map(({ length }) => length)
    chains.push({ endedAt, length: 1 + Math.max(0, ...before) })
  }
  return Math.max(0, ...chains.map(({ length }) => length))
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

import { itemBytes, overheadBytes, type WireItem } from './item-bytes.ts'

/** The states of an item before and after a call that put, updated, deleted or checked the item. */
export interface WrittenItem {
  before: WireItem | undefined
  after: WireItem | undefined
}

/**
 * How a read is billed: a strongly consistent read costs twice as much as an eventually consistent read, and
 * a read in a transaction costs four times as much.
 */
export type ReadKind = 'eventual' | 'consistent' | 'transaction'

const readUnitBytes = 4096
const writeUnitBytes = 1024
const readFactors: Record<ReadKind, number> = { eventual: 0.5, consistent: 1, transaction: 2 }

/**
 * Returns the read units of one item that is read by key, or of all items of a Query together. `bytes` is 0
 * for a missing item (Amazon DynamoDB: Read and write operations).
 */
export const billedReadUnits = (bytes: number, kind: ReadKind): number =>
  Math.max(1, Math.ceil(bytes / readUnitBytes)) * readFactors[kind]

/**
 * Write units for an item and its index entry. Counts the larger of the item's sizes before and after the
 * write; in a transaction, twice (Amazon DynamoDB: Read and write operations, Using global secondary
 * indexes).
 */
export function billedWriteUnits({ before, after }: WrittenItem, inTransaction: boolean): number {
  const bytes = Math.max(0, ...[before, after].map((item) => (item === undefined ? 0 : itemBytes(item))))
  return unitsOf(bytes) * (inTransaction ? 2 : 1) + indexUnits(indexEntry(before), indexEntry(after))
}

const unitsOf = (bytes: number): number => Math.max(1, Math.ceil(bytes / writeUnitBytes))

/** A changed index entry costs as much as a deletion and a put, even in a transaction. */
function indexUnits(before: WireItem | undefined, after: WireItem | undefined): number {
  if (JSON.stringify(before) === JSON.stringify(after)) return 0
  return [before, after].reduce(
    (sum, entry) => sum + (entry === undefined ? 0 : unitsOf(itemBytes(entry))),
    0,
  )
}

/** Returns an item's entry in the index. The table has one index, which holds only the keys of the items. */
function indexEntry(item: WireItem | undefined): WireItem | undefined {
  const { pk, sk, gpk, gsk } = item ?? {}
  return gpk === undefined || gsk === undefined || !pk || !sk ? undefined : { pk, sk, gpk, gsk }
}

/** The bytes that a write adds to the table and its index, with DynamoDB's overhead for every item. */
export const grownBytes = ({ before, after }: WrittenItem): number => storedBytes(after) - storedBytes(before)

function storedBytes(item: WireItem | undefined): number {
  const entries = [item, indexEntry(item)].filter((entry) => entry !== undefined)
  return entries.reduce((sum, entry) => sum + itemBytes(entry) + overheadBytes, 0)
}

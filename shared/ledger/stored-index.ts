import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { keyText, queryFirst, queryItems } from '../db/read.ts'
import { Integer, type Item, type Key } from '../db/table.ts'
import { type Write, writeItem } from '../db/write.ts'
import { forEachConcurrently } from '../for-each-concurrently.ts'
import {
  type Block,
  blockSize,
  type BlockPart,
  type Chunk,
  chunksOf,
  currenciesOf,
  numbersIn,
  partsOf,
  takeChunk,
} from './bill-index.ts'
import type { BillFilter } from './bill-type.ts'
import { decodeCounts, decodeMarks, encodeCounts, encodeMarks, quarterOf } from './mark.ts'
import type { Wallet, WalletId } from './wallet.ts'

const chunkKeys = itemType({
  pk: 'BX#{userId}#{wallet}',
  sk: 'Q{quarter}#{number}',
  holds: 'a chunk of a wallet’s index: the currency, type and quarter of an hour of 64 bills',
  found: 'by the quarter of an hour of its first bill',
})

const blockKeys = itemType({
  pk: 'BX#{userId}#{wallet}',
  sk: 'L{currency}#{kind}#{block}',
  holds: 'a block of a wallet’s index: the numbers of 128 bills that a filter selects',
  found: 'by its number in the list of the filter',
})

const quarterText = (quarter: number): string => String(quarter).padStart(10, '0')
const numberText = (number: number): string => String(number).padStart(12, '0')

const ChunkItem = v.object({
  number: Integer,
  marks: v.instance(Uint8Array),
  before: v.instance(Uint8Array),
  until: Integer,
})

/** The item of a chunk. */
export const chunkItem = (id: WalletId, { number, marks, before, until }: Chunk): Item & Key => ({
  ...chunkKeys.key({ ...id, quarter: quarterText(marks[0]?.quarter ?? 0), number: numberText(number) }),
  number,
  marks: encodeMarks(marks),
  before: encodeCounts(before),
  until,
})

/** Parses a chunk from its item. */
export function toChunk(item: Item): Chunk {
  const { number, marks, before, until } = v.parse(ChunkItem, item)
  return { number, marks: decodeMarks(marks), before: decodeCounts(before), until }
}

/** Key of a block of a list. */
export const blockKey = (id: WalletId, { currency = '*', kind }: BillFilter, block: number): Key =>
  blockKeys.key({ ...id, currency, kind: kind ?? '*', block: numberText(block) })

/** Parses a block from its item. */
export const toBlock = (item: Item): Block =>
  new Map(
    Object.entries(item).flatMap(([name, value]) =>
      name === 'pk' || name === 'sk' ? [] : [[Number(name), v.parse(v.instance(Uint8Array), value)] as const],
    ),
  )

interface ReadOptions {
  consistent?: boolean
}

/** A range of items of an index: its first and last key, which may belong to no item. */
export type IndexRange = readonly [first: Key, last: Key]

/** The range of the chunks whose first bills are before a quarter of an hour; by default of all. */
export function chunkRange(id: WalletId, before = 9_999_999_999): IndexRange {
  const pk = chunkKeys.partition({ ...id })
  const first = chunkKeys.sortKeyPrefix
  return [
    { pk, sk: first },
    { pk, sk: `${first}${quarterText(before)}` },
  ]
}

/** The range of the blocks of a list from one to another, both included; by default of all. */
export const blockRange = (
  id: WalletId,
  filter: BillFilter,
  first = 0,
  last = 999_999_999_999,
): IndexRange => [blockKey(id, filter, first), blockKey(id, filter, last)]

const queryOf = ([first, last]: IndexRange) => ({
  KeyConditionExpression: 'pk = :pk AND sk BETWEEN :first AND :last',
  ExpressionAttributeValues: { ':pk': first.pk, ':first': first.sk, ':last': last.sk },
})

/** Reads the items of a range in order, strongly consistent. */
export const readIndexRange = (range: IndexRange): AsyncGenerator<Item> =>
  queryItems({ ...queryOf(range), ConsistentRead: true })

/**
 * Reads the last chunk whose first bill is before an instant (epoch milliseconds), by default the last of
 * all; undefined without one.
 */
export async function readChunkBefore(
  id: WalletId,
  instant?: number,
  { consistent = false }: ReadOptions = {},
): Promise<Chunk | undefined> {
  const range = chunkRange(id, instant === undefined ? undefined : quarterOf(instant))
  const query = { ...queryOf(range), ScanIndexForward: false, ConsistentRead: consistent }
  const [item] = await queryFirst(query, 1)
  return item && toChunk(item)
}

/** Reads blocks of a list, from the first number to the last: the numbers of their bills, by their ranks. */
export async function readRanks(
  wallet: Wallet,
  filter: BillFilter,
  [first, last]: readonly [number, number],
  { consistent = false }: ReadOptions = {},
): Promise<Map<number, number>> {
  const query = { ...queryOf(blockRange(wallet.id, filter, first, last)), ConsistentRead: consistent }
  const chunks = chunksOf(wallet)
  const items = await queryFirst(query, last - first + 1)
  return new Map(
    items.flatMap((item) => {
      const before = Number(String(item['sk']).split('#').at(-1)) * blockSize
      return numbersIn(toBlock(item), chunks).map((number, i) => [before + i + 1, number] as const)
    }),
  )
}

/**
 * Stores the chunks that are complete in the open part of a wallet's index, and takes them out of it. The
 * wallet itself is not written: its next posting does that, and until then readers find the marks in both.
 */
export async function closeChunks(wallet: Wallet): Promise<Wallet> {
  const chunks: Chunk[] = []
  let open = wallet
  for (let taken = takeChunk(open); taken !== undefined; taken = takeChunk(open)) {
    chunks.push(taken.chunk)
    open = taken.rest
  }
  if (chunks.length > 0) await writeChunks(wallet, chunks)
  return open
}

/**
 * Writes chunks and what they add to the lists. This is no transaction, at half the price of one: it may be
 * repeated, and by several writers at a time. The chunks are stored last, and in their order: where one is,
 * all else is up to its end.
 */
export async function writeChunks(wallet: Wallet, chunks: readonly Chunk[]): Promise<void> {
  const currencies = currenciesOf(wallet)
  const parts = chunks.flatMap((chunk) => partsOf(chunk, currencies))
  const blocks = Map.groupBy(parts, ({ filter, block }) => keyText(blockKey(wallet.id, filter, block)))
  await forEachConcurrently(blocks.values(), concurrency, (some) => writeItem(addParts(wallet.id, some)))
  for (const chunk of chunks) await writeItem({ Put: { Item: chunkItem(wallet.id, chunk) } })
}

/** Number of writes that are sent at the same time. */
const concurrency = 32

/** The write that adds parts to their block. */
function addParts(id: WalletId, parts: readonly BlockPart[]): Write {
  const [first] = parts
  if (first === undefined) throw new Error('a block has no parts')
  return {
    Update: {
      Key: blockKey(id, first.filter, first.block),
      UpdateExpression: `SET ${parts.map((_, i) => `#c${i} = :c${i}`).join(', ')}`,
      ExpressionAttributeNames: Object.fromEntries(parts.map(({ chunk }, i) => [`#c${i}`, String(chunk)])),
      ExpressionAttributeValues: Object.fromEntries(
        parts.map(({ places }, i) => [`:c${i}`, Uint8Array.from(places)]),
      ),
    },
  }
}

/** All items of an index with these chunks, by their keys as text. */
export function indexItems(wallet: Wallet, chunks: readonly Chunk[]): Map<string, Item & Key> {
  const currencies = currenciesOf(wallet)
  const items = new Map<string, Item & Key>()
  for (const chunk of chunks) {
    const own = chunkItem(wallet.id, chunk)
    items.set(keyText(own), own)
    for (const { filter, block, places } of partsOf(chunk, currencies)) {
      const key = blockKey(wallet.id, filter, block)
      items.set(keyText(key), { ...key, ...items.get(keyText(key)), [chunk.number]: Uint8Array.from(places) })
    }
  }
  return items
}

/** Reads all items of the index of a wallet, strongly consistent, by their keys as text. */
export async function readIndexItems(id: WalletId): Promise<Map<string, Item>> {
  const items = new Map<string, Item>()
  const query = {
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': chunkKeys.partition({ ...id }) },
    ConsistentRead: true,
  }
  for await (const item of queryItems(query)) items.set(keyText(item), item)
  return items
}

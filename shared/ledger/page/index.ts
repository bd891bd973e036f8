import * as v from 'valibot'
import { itemType } from '../../db/item-type.ts'
import { keyText } from '../../db/read.ts'
import { Integer, type Item, type Key } from '../../db/table.ts'
import { type Write, writeItem } from '../../db/write.ts'
import { forEachConcurrently } from '../../for-each-concurrently.ts'
import {
  addToCounts,
  type BillFilter,
  type Counts,
  filtersOf,
  readCode,
  selects,
  StoredCounts,
  toStoredCounts,
} from '../bill-types.ts'
import { countBills, decodeMarks, encodeMarks, type Mark, type Wallet, type WalletId } from '../wallet.ts'

/**
 * The index of a wallet's bills. One read finds the k-th bill that a filter selects. Another read finds how
 * many bills the filter selects before a day. This file stores the index, stored.ts reads it.
 *
 * A bill is stored once, under its number. The index has only the bill's mark: its type, currency and time in
 * two or three bytes. A posting adds the mark to the wallet's own item (`tail`), which it writes anyway. Once
 * that item has more than 64 marks, the next posting moves the oldest 64 into a chunk, an item of its own:
 * - The key of a chunk has the time of its first bill. The chunk also counts the bills before it.
 * - Each filter of `filtersOf` has a list of its bills, in blocks (items) of 128, so the k-th bill is in
 *   block k / 128. A block has one attribute for each chunk from which it lists bills, with one byte for each
 *   of these bills: its place in the chunk.
 *
 * Chunks and lists follow from the bills alone, so every process that writes them writes the same.
 */
export interface Chunk {
  /** The chunk's number in its wallet, from 0. Chunk 0 has the bills 1 to 64. */
  number: number
  marks: readonly Mark[]
  /** How many bills of each code are older than the chunk. */
  before: Counts
  /** Quarter of an hour in which the first bill after the chunk was booked. */
  until: number
}

/** Number of bills in a chunk; at most 256, because a bill's place in its chunk is stored as a byte. */
export const chunkSize = 64

/** Number of bills in a block: so few that a block stays below 1 KB, even with bills of 128 chunks. */
export const blockSize = 128

/** The wallet's currencies in the order of their numbers. */
export function currenciesOf({ holdings }: Pick<Wallet, 'holdings'>): string[] {
  const currencies: string[] = []
  for (const [currency, { number }] of holdings) currencies[number] = currency
  return currencies
}

/** The number of bills that a filter selects. */
export function lengthOf(filter: BillFilter, counts: Counts, currencies: readonly string[]): number {
  let length = 0
  for (const [code, count] of counts) if (selectsCode(filter, code, currencies)) length += count
  return length
}

/** Whether a filter selects the bills that have this code. */
export function selectsCode(filter: BillFilter, code: number, currencies: readonly string[]): boolean {
  const { currencyNumber, type } = readCode(code)
  return selects(filter, currencies[currencyNumber] ?? '', type)
}

/** How many bills of each code are in the wallet's chunks. */
export const countInChunks = ({ counts, tail }: Wallet): Counts =>
  tail.reduce((left, { code }) => addToCounts(left, code, -1), counts)

/** Number of the wallet's chunks. */
export const chunksOf = (wallet: Wallet): number =>
  Math.floor((countBills(wallet) - wallet.tail.length) / chunkSize)

/** Moves the oldest 64 marks of a wallet into a new chunk; undefined if the wallet has no more than 64. */
export function takeChunk(wallet: Wallet): { chunk: Chunk; rest: Wallet } | undefined {
  const { tail } = wallet
  const next = tail[chunkSize]
  if (next === undefined) return undefined
  return {
    chunk: {
      number: chunksOf(wallet),
      marks: tail.slice(0, chunkSize),
      before: countInChunks(wallet),
      until: next.quarter,
    },
    rest: { ...wallet, tail: tail.slice(chunkSize) },
  }
}

/** The attribute that a chunk adds to a block of a list: the places, in the chunk, of the block's bills. */
export interface BlockPart {
  filter: BillFilter
  block: number
  chunk: number
  places: number[]
}

/** Name of the list of a filter, as text. */
export const listText = ({ currency, kind }: BillFilter): string => `${currency ?? '*'} ${kind ?? '*'}`

/** Lists what a chunk adds to blocks: one part for each block that has bills of the chunk. */
export function partsOf({ number, marks, before }: Chunk, currencies: readonly string[]): BlockPart[] {
  const parts = new Map<string, BlockPart>()
  const lengths = new Map<string, number>()
  for (const [place, { code }] of marks.entries()) {
    const { currencyNumber, type } = readCode(code)
    for (const filter of filtersOf(currencies[currencyNumber] ?? '', type)) {
      const list = listText(filter)
      const length = lengths.get(list) ?? lengthOf(filter, before, currencies)
      lengths.set(list, length + 1)
      const block = Math.floor(length / blockSize)
      const part = parts.get(`${list} ${block}`) ?? { filter, block, chunk: number, places: [] }
      part.places.push(place)
      parts.set(`${list} ${block}`, part)
    }
  }
  return [...parts.values()]
}

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
  before: StoredCounts,
  until: Integer,
})

/** Key of a chunk, from the quarter of an hour of its first bill and the chunk's number. */
export const chunkKey = (id: WalletId, quarter: number, number = 0): Key =>
  chunkKeys.key({ ...id, quarter: quarterText(quarter), number: numberText(number) })

const chunkItem = (id: WalletId, { number, marks, before, until }: Chunk): Item & Key => ({
  ...chunkKey(id, marks[0]?.quarter ?? 0, number),
  number,
  marks: encodeMarks(marks),
  before: toStoredCounts(before),
  until,
})

/** Parses a chunk from its item. */
export function toChunk(item: Item): Chunk {
  const { marks, ...chunk } = v.parse(ChunkItem, item)
  return { ...chunk, marks: decodeMarks(marks) }
}

/** Key of a block of a list. */
export const blockKey = (id: WalletId, { currency = '*', kind }: BillFilter, block: number): Key =>
  blockKeys.key({ ...id, currency, kind: kind ?? '*', block: numberText(block) })

/**
 * Moves the oldest 64 marks of a wallet's item into a stored chunk, if the item has more than 64, and returns
 * the wallet without them. The caller writes that wallet; until then, readers find these marks twice.
 */
export async function closeChunk(wallet: Wallet): Promise<Wallet> {
  const taken = takeChunk(wallet)
  if (taken === undefined) return wallet
  await writeChunks(wallet, [taken.chunk])
  return taken.rest
}

const concurrency = 32

/**
 * Writes chunks, and their parts of the lists' blocks, without a transaction, which would cost twice as much.
 * Several processes may write the same chunk, even repeatedly. Chunks are written last and in order, so when
 * a chunk is stored, the lists have every bill up to the end of the chunk.
 */
export async function writeChunks(wallet: Wallet, chunks: readonly Chunk[]): Promise<void> {
  const currencies = currenciesOf(wallet)
  const parts = chunks.flatMap((chunk) => partsOf(chunk, currencies))
  const blocks = Map.groupBy(parts, ({ filter, block }) => keyText(blockKey(wallet.id, filter, block)))
  await forEachConcurrently(blocks.values(), concurrency, (some) => writeItem(addParts(wallet.id, some)))
  for (const chunk of chunks) await writeItem({ Put: { Item: chunkItem(wallet.id, chunk) } })
}

/** The write that adds parts of several chunks to the block that they share. */
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

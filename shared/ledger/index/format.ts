import * as v from 'valibot'
import { itemType } from '../../db/item-type.ts'
import { Integer, type Item, type Key } from '../../db/table.ts'
import {
  addToCounts,
  type BillFilter,
  type Counts,
  filtersOf,
  splitCode,
  selects,
  StoredCounts,
  toStoredCounts,
} from '../bill-types.ts'
import { countBills, decodeMarks, encodeMarks, type Mark, type Wallet, type WalletId } from '../wallet.ts'

/**
 * A chunk of a wallet's bill index: the part for 64 bills. One read of the index finds the k-th bill that a
 * filter selects, or counts the selected bills before a day. write.ts writes the index; read.ts reads it.
 *
 * The index has a mark for each bill: type, currency and quarter-hour, in two or three bytes. A posting adds
 * the mark to the wallet's item (`tail`), which every posting writes anyway. Once the tail has more than 64
 * marks, the next posting moves the oldest 64 into two kinds of items:
 * - A chunk has the 64 marks and the counts of all earlier bills. Its key has the time of its first bill.
 * - A block lists 128 of the bills that one filter selects: the first 128, or the next 128, and so on. It
 *   has one attribute for each chunk. Its bytes are the places of these bills in the chunk.
 *
 * Chunks and blocks depend only on the bills, so every process writes the same ones.
 */
export interface Chunk {
  /** The chunk's number in its wallet, from 0. Chunk 0 has the bills 1 to 64. */
  number: number
  marks: readonly Mark[]
  /** How many of the wallet's bills of each kind precede the chunk's first bill. */
  before: Counts
  /** Quarter-hour of the first bill after this chunk. */
  until: number
}

/** Number of bills in a chunk; at most 256, because a bill's place in its chunk is stored as a byte. */
export const chunkSize = 64

/** Number of bills in a block. It keeps every block smaller than 1 KB, the size of one write unit. */
export const blockSize = 128

/** Lists a wallet's currencies. A currency's index in the list is its number in bill codes (see codeOf). */
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

/** Whether a filter selects bills with this code, which stands for a currency and a type (see codeOf). */
export function selectsCode(filter: BillFilter, code: number, currencies: readonly string[]): boolean {
  const { currencyNumber, type } = splitCode(code)
  return selects(filter, currencies[currencyNumber] ?? '', type)
}

/** Counts the bills in a wallet's chunks: all bills except the newest, which are still in `tail`. */
export const countInChunks = ({ counts, tail }: Wallet): Counts =>
  tail.reduce((left, { code }) => addToCounts(left, code, -1), counts)

/** Counts the chunks of a wallet's bill index. */
export const chunksOf = (wallet: Wallet): number =>
  Math.floor((countBills(wallet) - wallet.tail.length) / chunkSize)

/** The bills that one chunk adds to one block. `places` are the places of these bills in the chunk. */
export interface BlockPart {
  filter: BillFilter
  block: number
  chunk: number
  places: number[]
}

/** Name of the list that a filter selects: a currency and a kind, each `*` if the filter does not set it. */
export const listText = ({ currency, kind }: BillFilter): string => `${currency ?? '*'} ${kind ?? '*'}`

/** Splits a chunk into the parts that are added to blocks. Each part has the bills of one block. */
export function partsOf({ number, marks, before }: Chunk, currencies: readonly string[]): BlockPart[] {
  const parts = new Map<string, BlockPart>()
  const lengths = new Map<string, number>()
  for (const [place, { code }] of marks.entries()) {
    const { currencyNumber, type } = splitCode(code)
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

/** Key of a chunk: the quarter-hour in which its first bill was booked, then the number of the chunk. */
export const chunkKey = (id: WalletId, quarter: number, number = 0): Key =>
  chunkKeys.key({ ...id, quarter: quarterText(quarter), number: numberText(number) })

/** The item of a chunk. */
export const chunkItem = (id: WalletId, { number, marks, before, until }: Chunk): Item & Key => ({
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

/** Key of a block of the bill index: the filter, then the block's number. */
export const blockKey = (id: WalletId, { currency = '*', kind }: BillFilter, block: number): Key =>
  blockKeys.key({ ...id, currency, kind: kind ?? '*', block: numberText(block) })

/**
 * A block: maps the number of a chunk to a byte array. The value of each byte is the position of one bill in
 * that chunk.
 */
export type Block = ReadonlyMap<number, Uint8Array>

/** Parses a block from its item. */
export const toBlock = (item: Item): Block =>
  new Map(
    Object.entries(item).flatMap(([name, value]) =>
      name === 'pk' || name === 'sk' ? [] : [[Number(name), v.parse(v.instance(Uint8Array), value)] as const],
    ),
  )

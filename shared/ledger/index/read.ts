import { between, queryFirst } from '../../db/read.ts'
import { addToCounts, type BillFilter, type Counts } from '../bill-types.ts'
import { quarterOf, type Wallet, type WalletId } from '../wallet.ts'
import {
  type Block,
  blockKey,
  blockSize,
  type Chunk,
  chunkKey,
  chunkSize,
  chunksOf,
  currenciesOf,
  selectsCode,
  toBlock,
  toChunk,
} from './format.ts'

/** Reads the last chunk that begins before an instant (epoch milliseconds); undefined if there is none. */
export async function readChunkBefore(
  id: WalletId,
  instant: number,
  { consistent = false } = {},
): Promise<Chunk | undefined> {
  const [low, high] = [chunkKey(id, 0), chunkKey(id, Math.max(0, quarterOf(instant)))]
  const query = { ...between(low.pk, low.sk, high.sk), ConsistentRead: consistent, ScanIndexForward: false }
  const [item] = await queryFirst(query, 1)
  return item && toChunk(item)
}

/** Lists the numbers of a block's bills, ascending. */
export const numbersIn = (block: Block): number[] =>
  [...block]
    .sort(([a], [b]) => a - b)
    .flatMap(([chunk, places]) => Array.from(places, (place) => chunk * chunkSize + place + 1))

/**
 * Reads blocks of the bill index for a filter. Returns bill numbers, keyed by position. The last block may
 * also have bills of a chunk that was added after the wallet was read. Their positions come after those of
 * the wallet.
 */
export async function readRanks(
  id: WalletId,
  filter: BillFilter,
  [first, last]: readonly [number, number],
  { consistent = false } = {},
): Promise<Map<number, number>> {
  const [low, high] = [blockKey(id, filter, first), blockKey(id, filter, last)]
  const query = { ...between(low.pk, low.sk, high.sk), ConsistentRead: consistent }
  const items = await queryFirst(query, last - first + 1)
  return new Map(
    items.flatMap((item) => {
      const before = Number(String(item['sk']).split('#').at(-1)) * blockSize
      return numbersIn(toBlock(item)).map((number, i) => [before + i + 1, number] as const)
    }),
  )
}

/** Lists, in ascending order, the numbers of the bills that a filter selects and that are in the tail. */
export function numbersInTail(filter: BillFilter, wallet: Wallet): number[] {
  const first = chunksOf(wallet) * chunkSize + 1
  const currencies = currenciesOf(wallet)
  return wallet.tail.flatMap(({ code }, i) => (selectsCode(filter, code, currencies) ? [first + i] : []))
}

/**
 * Counts the bills booked before `quarter` (see quarterOf). `chunk` should be the last chunk that begins
 * before `quarter`. Returns undefined if there may be a later one.
 */
export function countBefore(quarter: number, wallet: Wallet, chunk: Chunk | undefined): Counts | undefined {
  const { first, tail, counts } = wallet
  if (first === 0 || quarter <= first) return new Map()
  if (chunk !== undefined && quarter <= chunk.until) {
    const earlier = chunk.marks.filter((mark) => mark.quarter < quarter)
    return earlier.reduce((sum, { code }) => addToCounts(sum, code), chunk.before)
  }
  if ((chunk?.number ?? -1) + 1 < chunksOf(wallet)) return undefined
  const later = tail.filter((mark) => mark.quarter >= quarter)
  return later.reduce((sum, { code }) => addToCounts(sum, code, -1), counts)
}

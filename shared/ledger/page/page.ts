import * as v from 'valibot'
import { daysInOrder, endOfDay, startOfDay } from '../../dates.ts'
import { isNewestPage, type ListPage, readNewest, readRange, rowKey } from '../../db/numbered-list.ts'
import { readItems } from '../../db/read.ts'
import { CurrencyCode, CurrencyFilter, Day } from '../../fields.ts'
import { type PageRequest, pageQuery, toPage } from '../../page.ts'
import { type Bill, billList, toBill } from '../bill.ts'
import { type BillFilter, BillType, billTypes, Direction, selectsAll } from '../bill-types.ts'
import { quarterOf, readWallet, type Wallet, type WalletId, type WalletName } from '../wallet.ts'
import { blockSize, type Chunk, countInChunks, currenciesOf, lengthOf } from './index.ts'
import { countBefore, numbersInTail, readChunkBefore, readRanks } from './stored.ts'

/** Query parameters of a page of bills. */
export const BillsQuery = v.pipe(
  v.object({
    currency: CurrencyFilter,
    amountDirection: v.optional(v.pipe(v.picklist(['1', '2']), v.transform(Number), Direction)),
    businessId: v.optional(v.string()),
    beginTime: v.optional(Day),
    endTime: v.optional(Day),
    ...pageQuery,
  }),
  v.forward(
    v.check(({ beginTime, endTime }) => daysInOrder(beginTime, endTime), 'must not be before beginTime'),
    ['endTime'],
  ),
)
export type BillsQuery = v.InferOutput<typeof BillsQuery>

/** An instant of a query (epoch milliseconds), and the last chunk that begins before it. */
interface Boundary {
  instant: number
  chunk: Chunk | undefined
}

/** What a page of bills is read from: the wallet as it is, and the boundaries of the requested period. */
interface Found {
  wallet: Wallet
  filter: BillFilter
  begin: Boundary | undefined
  end: Boundary | undefined
}

/** The first round of reads for a page of bills: of the newest bills of all it is the page itself. */
type BillsStart = { newest: ListPage } | ({ newest?: undefined } & Found)

/**
 * The first round of reads for a page of bills; undefined if no bill can match the query. The newest bills
 * without a filter are read at once, without the wallet.
 */
export async function readBillsStart(
  query: BillsQuery,
  userId: number,
  name: WalletName,
): Promise<BillsStart | undefined> {
  const filter = toFilter(query)
  if (filter === undefined) return undefined
  const id = { userId, wallet: name }
  const { beginTime, endTime } = query
  if (selectsAll(filter) && isNewestPage(query)) return { newest: await readNewest(billList(id), query.size) }
  const readBoundary = async (instant: number) => ({ instant, chunk: await readChunkBefore(id, instant) })
  const [wallet, begin, end] = await Promise.all([
    readWallet(id),
    beginTime === undefined ? undefined : readBoundary(startOfDay(beginTime)),
    endTime === undefined ? undefined : readBoundary(endOfDay(endTime)),
  ])
  return { wallet, filter, begin, end }
}

/** Reads a page of bills, newest first, from the result of its first round of reads. */
export async function readBillsPage(query: BillsQuery, start: BillsStart | undefined) {
  if (start === undefined) return toPage<Bill>([], 0, query)
  if (start.newest) return toPage(start.newest.rows.map(toBill), start.newest.total, query)
  const { bills, total } = await readIndexedPage(query, start)
  return toPage(bills, total, query)
}

/** Reads a page by the wallet's index: the second and the third round of reads. */
async function readIndexedPage(
  { current, size }: PageRequest,
  { wallet, filter, begin, end }: Found,
): Promise<{ bills: Bill[]; total: number }> {
  const [before, last] = await Promise.all([
    begin === undefined ? 0 : rankBefore(wallet, filter, begin),
    end === undefined ? countSelected(wallet, filter) : rankBefore(wallet, filter, end),
  ])
  const newest = last - (current - 1) * size
  const ranks = { oldest: Math.max(before + 1, newest - size + 1), newest }
  return {
    bills: await readBills(wallet.id, await selectNumbers(wallet, filter, ranks)),
    total: Math.max(0, last - before),
  }
}

const countSelected = (wallet: Wallet, filter: BillFilter): number =>
  lengthOf(filter, wallet.counts, currenciesOf(wallet))

/** How many of the bills that a filter selects are before an instant. */
async function rankBefore(wallet: Wallet, filter: BillFilter, { instant, chunk }: Boundary): Promise<number> {
  const quarter = quarterOf(instant)
  const counts =
    countBefore(quarter, wallet, chunk) ??
    countBefore(quarter, wallet, await readChunkBefore(wallet.id, instant, { consistent: true }))
  if (counts === undefined) throw new Error('a chunk of the index is missing')
  // The chunk may have bills that the wallet, which was read at the same time, does not count yet.
  return Math.min(lengthOf(filter, counts, currenciesOf(wallet)), countSelected(wallet, filter))
}

/** The numbers of the bills that a filter selects from one rank to another, both included; ascending. */
async function selectNumbers(
  wallet: Wallet,
  filter: BillFilter,
  { oldest, newest }: { oldest: number; newest: number },
): Promise<number[]> {
  const count = Math.max(0, newest - oldest + 1)
  if (selectsAll(filter)) return Array.from({ length: count }, (_, i) => oldest + i)
  const inChunks = lengthOf(filter, countInChunks(wallet), currenciesOf(wallet))
  const inTail = numbersInTail(filter, wallet).slice(
    Math.max(0, oldest - inChunks - 1),
    Math.max(0, newest - inChunks),
  )
  if (count === 0 || oldest > inChunks) return inTail
  const ranks = Array.from({ length: Math.min(newest, inChunks) - oldest + 1 }, (_, i) => oldest + i)
  const blocks = [oldest, Math.min(newest, inChunks)].map((rank) => Math.floor((rank - 1) / blockSize))
  const read = async (consistent: boolean) => {
    const numbers = await readRanks(wallet, filter, blocks as [number, number], { consistent })
    return ranks.map((rank) => numbers.get(rank))
  }
  const found = await read(false)
  const numbers = found.includes(undefined) ? await read(true) : found
  if (!numbers.every((number) => number !== undefined)) throw new Error('a block of the index is missing')
  return [...numbers, ...inTail]
}

/** Number of times that a page of bills may read what it needs, as a range, to save reads of single bills. */
const maxDilution = 8

/**
 * Reads bills by their numbers, newest first. Eventually consistent, and strongly consistent those that this
 * does not find: numbers come from what was written with the bills, or after them. Throws if one is missing.
 */
async function readBills(id: WalletId, numbers: readonly number[]): Promise<Bill[]> {
  const [oldest, newest] = [numbers.at(0), numbers.at(-1)]
  if (oldest === undefined || newest === undefined) return []
  const list = billList(id)
  const read = (some: readonly number[], options = {}) =>
    readItems(
      some.map((number) => rowKey(list, number)),
      options,
    )
  const isDense = newest - oldest < maxDilution * numbers.length
  const rows = isDense ? await readRange(list, oldest, newest, { consistent: false }) : await read(numbers)
  const found = new Map(rows.flatMap((row) => (row === undefined ? [] : [[Number(row['sk']), row] as const])))
  const missing = numbers.filter((number) => !found.has(number))
  for (const row of await read(missing, { consistent: true })) if (row) found.set(Number(row['sk']), row)
  return numbers.toReversed().map((number) => {
    const row = found.get(number)
    if (row === undefined) throw new Error('a bill is missing')
    return toBill(row)
  })
}

/** The filter of a query; undefined if no bill can match its currency, type and direction. */
function toFilter({ currency, amountDirection, businessId }: BillsQuery): BillFilter | undefined {
  if (currency !== undefined && !v.is(CurrencyCode, currency)) return undefined
  if (businessId === undefined) return { currency, kind: amountDirection }
  if (!v.is(BillType, businessId)) return undefined
  if (amountDirection !== undefined && amountDirection !== billTypes[businessId].direction) return undefined
  return { currency, kind: businessId }
}

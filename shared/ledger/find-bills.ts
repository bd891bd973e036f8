import * as v from 'valibot'
import { daysInOrder, endOfDay, startOfDay } from '../dates.ts'
import { isNewestPage, readNewest, readRowsBetween, rowKey } from '../db/numbered-list.ts'
import { readItems } from '../db/read.ts'
import type { Item } from '../db/table.ts'
import { CurrencyCode, CurrencyFilter, Day } from '../fields.ts'
import { forEachConcurrently } from '../for-each-concurrently.ts'
import type { Found } from '../http/export.ts'
import { pageQuery, toPage } from '../page.ts'
import { settings } from '../settings.ts'
import { type Bill, billList, toBill } from './bill.ts'
import { type BillFilter, BillType, billTypes, Direction, selectsAll } from './bill-types.ts'
import { quarterOf, readWallet, type Wallet, type WalletId } from './wallet.ts'
import { blockSize, type Chunk, countInChunks, currenciesOf, lengthOf } from './index/format.ts'
import { countBefore, numbersInTail, readChunkBefore, readRanks } from './index/read.ts'

const businessIdText = `${BillType.options.join(', ')}; any other finds nothing.`

const Filter = v.object({
  currency: CurrencyFilter,
  amountDirection: v.optional(v.pipe(v.picklist(['1', '2']), v.transform(Number), Direction)),
  businessId: v.optional(v.pipe(v.string(), v.description(businessIdText))),
  beginTime: v.optional(Day),
  endTime: v.optional(Day),
})
const PageFilter = v.object({ ...Filter.entries, ...pageQuery })

const checkDates = <Query extends v.InferOutput<typeof Filter>>() =>
  v.check<Query, string>(
    ({ beginTime, endTime }) => daysInOrder(beginTime, endTime),
    'must not be before beginTime',
  )

/** Query parameters of an export of bills, which has no pages. */
export const BillsExportQuery = v.pipe(
  Filter,
  v.forward(checkDates<v.InferOutput<typeof Filter>>(), ['endTime']),
)
type BillsExportQuery = v.InferOutput<typeof BillsExportQuery>

/** Query parameters of a page of bills. */
export const BillsQuery = v.pipe(
  PageFilter,
  v.forward(checkDates<v.InferOutput<typeof PageFilter>>(), ['endTime']),
)
export type BillsQuery = v.InferOutput<typeof BillsQuery>

/** The start or end of a query's period. `chunk` is the wallet's last chunk that begins before `instant`. */
interface Boundary {
  instant: number
  chunk: Chunk | undefined
}

/** Reads a page of bills, newest first. Page 1 of all bills takes one round trip, others two or three. */
export async function readBillsPage(query: BillsQuery, id: WalletId) {
  const { current, size } = query
  const filter = toFilter(query)
  if (filter !== undefined && selectsAll(filter) && isNewestPage(query)) {
    const { rows, total } = await readNewest(billList(id), size)
    return toPage(rows.map(toBill), total, query)
  }
  const selection = await selectBills(query, id)
  const bills = await readSelected(selection, { skip: (current - 1) * size, take: size })
  return toPage(bills, selection.total, query)
}

/** Reads the newest of the selected bills, up to `exportCap`. */
export async function exportBills(selection: Selection): Promise<Found<Bill>> {
  return { total: selection.total, records: await readSelected(selection, { take: settings().exportCap }) }
}

/** The bills of a wallet that a query selects: those at some positions among the bills of a filter. */
export interface Selection {
  id: WalletId
  /** Number of selected bills. */
  total: number
  /** The filter, the wallet as it was read, and the position of the newest bill; none if `total` is 0. */
  found: { filter: BillFilter; wallet: Wallet; last: number } | undefined
}

/** Finds out which bills of a wallet a query selects, without reading the bills. Takes one or two rounds. */
export async function selectBills(query: BillsExportQuery, id: WalletId): Promise<Selection> {
  const { beginTime, endTime } = query
  const filter = toFilter(query)
  if (filter === undefined) return { id, total: 0, found: undefined }
  const readBoundary = async (instant: number) => ({ instant, chunk: await readChunkBefore(id, instant) })
  const [wallet, begin, end] = await Promise.all([
    readWallet(id),
    beginTime === undefined ? undefined : readBoundary(startOfDay(beginTime)),
    endTime === undefined ? undefined : readBoundary(endOfDay(endTime)),
  ])
  const [before, last] = await Promise.all([
    begin === undefined ? 0 : rankBefore(wallet, filter, begin),
    end === undefined ? countSelected(wallet, filter) : rankBefore(wallet, filter, end),
  ])
  return { id, total: Math.max(0, last - before), found: { filter, wallet, last } }
}

/** Reads some of the selected bills, newest first. `skip` leaves out newer ones. */
async function readSelected(
  { id, total, found }: Selection,
  { skip = 0, take }: { skip?: number; take: number },
): Promise<Bill[]> {
  if (found === undefined || skip >= total) return []
  const { filter, wallet, last } = found
  const newest = last - skip
  const oldest = newest - Math.min(take, total - skip) + 1
  return readBills(id, await selectNumbers(wallet, filter, { oldest, newest }))
}

const countSelected = (wallet: Wallet, filter: BillFilter): number =>
  lengthOf(filter, wallet.counts, currenciesOf(wallet))

/** Counts the bills that precede an instant and are selected by a filter. */
async function rankBefore(wallet: Wallet, filter: BillFilter, { instant, chunk }: Boundary): Promise<number> {
  const quarter = quarterOf(instant)
  const counts =
    countBefore(quarter, wallet, chunk) ??
    countBefore(quarter, wallet, await readChunkBefore(wallet.id, instant, { consistent: true }))
  if (counts === undefined) throw new Error('a chunk of the index is missing')
  // The chunk may have bills that were posted after the wallet was read: those are not counted.
  return Math.min(lengthOf(filter, counts, currenciesOf(wallet)), countSelected(wallet, filter))
}

/** Returns the bill numbers at positions `oldest` to `newest` among the bills that a filter selects. */
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
    const numbers = await readRanks(wallet.id, filter, blocks as [number, number], { consistent })
    return ranks.map((rank) => numbers.get(rank))
  }
  const found = await read(false)
  const numbers = found.includes(undefined) ? await read(true) : found
  if (!numbers.every((number) => number !== undefined)) throw new Error('a block of the index is missing')
  return [...numbers, ...inTail]
}

/** Number of bills that are read together: as many as one call can read by key (AWS: BatchGetItem). */
const sliceSize = 100
const sliceConcurrency = 16

/**
 * Reads bills by number, newest first. Reads are eventually consistent, but missing bills are read again with
 * strong consistency. Throws if a bill is missing even then.
 */
async function readBills(id: WalletId, numbers: readonly number[]): Promise<Bill[]> {
  const rows = new Map<number, Item>()
  const starts = Array.from({ length: Math.ceil(numbers.length / sliceSize) }, (_, i) => i * sliceSize)
  await forEachConcurrently(starts, Math.min(sliceConcurrency, starts.length), async (start) => {
    const slice = numbers.slice(start, start + sliceSize)
    for (const row of await readSlice(id, slice)) rows.set(Number(row['sk']), row)
  })
  return numbers.toReversed().map((number) => {
    const row = rows.get(number)
    if (row === undefined) throw new Error('a bill is missing')
    return toBill(row)
  })
}

/** A range query may read fewer than this many times the needed bills. Otherwise, bills are read by key. */
const maxDilution = 8

/** Reads the items of some bills, and perhaps of others between them. `numbers` must be ascending. */
async function readSlice(id: WalletId, numbers: readonly number[]): Promise<Item[]> {
  const [oldest = 0, newest = 0] = [numbers.at(0), numbers.at(-1)]
  const list = billList(id)
  const read = async (some: readonly number[], options = {}) =>
    (
      await readItems(
        some.map((number) => rowKey(list, number)),
        options,
      )
    ).filter((row) => row !== undefined)
  const isDense = newest - oldest < maxDilution * numbers.length
  const rows = isDense
    ? await readRowsBetween(list, oldest, newest, { consistent: false })
    : await read(numbers)
  const found = new Set(rows.map((row) => Number(row['sk'])))
  const missing = numbers.filter((number) => !found.has(number))
  return missing.length === 0 ? rows : [...rows, ...(await read(missing, { consistent: true }))]
}

/** The filter that a query asks for; undefined if no bill can match the query. */
function toFilter({ currency, amountDirection, businessId }: BillsExportQuery): BillFilter | undefined {
  if (currency !== undefined && !v.is(CurrencyCode, currency)) return undefined
  if (businessId === undefined) return { currency, kind: amountDirection }
  if (!v.is(BillType, businessId)) return undefined
  if (amountDirection !== undefined && amountDirection !== billTypes[businessId].direction) return undefined
  return { currency, kind: businessId }
}

import * as v from 'valibot'
import { daysInOrder, endOfDay, startOfDay } from '../dates.ts'
import { type Bounds, type Period, readBounds } from '../db/numbered-list.ts'
import { CurrencyCode, Day } from '../events/fields.ts'
import { pageQuery, toPage } from '../http/page.ts'
import { type Filter, listName } from './bill-list.ts'
import { type Bill, readBills } from './bill.ts'
import { BillType, billTypes, Direction } from './bill-types.ts'
import { readWallet, type Wallet, type WalletName } from './wallet.ts'

/** A currency to filter by: matches without regard to case; one that nobody knows finds nothing. */
export const CurrencyFilter = v.optional(v.pipe(v.string(), v.toUpperCase()))

/** The query of both lists of bills. */
export const BillsQuery = v.pipe(
  v.object({
    currency: CurrencyFilter,
    amountDirection: v.optional(v.pipe(v.string(), v.transform(Number), Direction)),
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

/** What a page of bills is read from, or undefined where the filter can find nothing. */
export type BillsStart = { wallet: Wallet; filter: Filter; bounds: Bounds } | undefined

/**
 * First of the two reads behind a page of bills, which may go out before the session is known to be good: the wallet's
 * head, and beside it where the dates lie in the filter's list.
 */
export async function startBills(query: BillsQuery, userId: number, wallet: WalletName): Promise<BillsStart> {
  const filter = toFilter(query)
  if (filter === undefined) return undefined
  const id = { userId, wallet }
  const [head, bounds] = await Promise.all([
    readWallet(id),
    readBounds(listName(id, filter), toPeriod(query)),
  ])
  return { wallet: head, filter, bounds }
}

/** Second read: the page itself. */
export const finishBills = async ({ current, size }: BillsQuery, start: BillsStart) =>
  start === undefined
    ? toPage<Bill>([], 0, { current, size })
    : readBills(start.wallet, start.filter, start.bounds, { current, size })

/** Undefined where no bill can match: an unknown currency or type, or a type of the other direction. */
function toFilter({ currency, amountDirection, businessId }: BillsQuery): Filter | undefined {
  if (currency !== undefined && !v.is(CurrencyCode, currency)) return undefined
  if (businessId === undefined) return { currency, kind: amountDirection }
  if (!v.is(BillType, businessId)) return undefined
  if (amountDirection !== undefined && amountDirection !== billTypes[businessId]) return undefined
  return { currency, kind: businessId }
}

const toPeriod = ({ beginTime, endTime }: BillsQuery): Period => ({
  begin: beginTime === undefined ? undefined : startOfDay(beginTime),
  end: endTime === undefined ? undefined : endOfDay(endTime),
})

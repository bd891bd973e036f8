import * as v from 'valibot'
import { daysInOrder } from '../dates.ts'
import { itemType } from '../db/item-type.ts'
import { instantKeys, type ListStart, readListPage, readListStart, rowKey } from '../db/numbered-list.ts'
import { Decimal, Integer, type Item, toNumberValue } from '../db/table.ts'
import type { Write } from '../db/write.ts'
import { CurrencyCode, CurrencyFilter, Day } from '../fields.ts'
import { pageQuery, toPage } from '../page.ts'
import { Money } from '../money.ts'
import {
  BillType,
  billTypes,
  Direction,
  type NewBill,
  quarterOf,
  readWallet,
  type Wallet,
  type WalletId,
  type WalletName,
} from './wallet.ts'

/** Answer: a bill as its owner sees it. Bills never change. */
export const Bill = v.object({
  id: v.string(),
  currency: v.string(),
  /** Amount of the bill; positive, whether it adds to the wallet or takes from it. */
  amount: Money,
  amount_direction: Direction,
  business_id: BillType,
  /** Balance plus hold of the currency after this bill. */
  balance_after: Money,
  /** Business key of the event that caused the bill. */
  reference: v.string(),
  remark: v.nullable(v.string()),
  /** Instant at which the bill was posted, epoch milliseconds. */
  created_at: v.number(),
})
export type Bill = v.InferOutput<typeof Bill>

const BillItem = v.object({
  id: v.string(),
  currency: v.string(),
  amount: Decimal,
  type: BillType,
  balance_after: Decimal,
  reference: v.string(),
  remark: v.optional(v.string()),
  created_at: Integer,
})

/**
 * Identifies a list of bills: those of all currencies or of one, and of all kinds, one direction or one type.
 *
 * Every filter that a client can ask for has its own list, so that any page is one range of rows, however
 * many bills the wallet has. A bill is therefore stored six times: for all currencies and for its own, and in
 * both cases for all kinds, for its direction and for its type. For example, a deposit of USDT to the asset
 * wallet of user 7 is in these partitions:
 *
 *     BL#7#asset#*#*       BL#7#asset#*#1       BL#7#asset#*#DEPOSIT
 *     BL#7#asset#USDT#*    BL#7#asset#USDT#1    BL#7#asset#USDT#DEPOSIT
 *
 * The rows of a list are numbered from 1 without gaps. The wallet counts its bills by currency and type, so
 * the length of any list is a sum of these counts. A new bill gets the next number of each list.
 *
 * The index finds where a day begins in a list. It holds only the first bill of every quarter of an hour,
 * because a day begins on a quarter of an hour in every time zone in use; this saves index writes.
 */
export interface BillFilter {
  currency?: string | undefined
  kind?: Direction | BillType | undefined
}

const billKeys = itemType({
  pk: 'BL#{userId}#{wallet}#{currency}#{kind}',
  sk: '{number}',
  gpk: 'BL#{userId}#{wallet}#{currency}#{kind}',
  gsk: '{instant}#{number}',
  holds: 'a bill, once in each of its six lists',
  found: 'a page by its numbers; the first bill of a day in the index',
})

/** Partition key of a list of bills. */
export const listName = (id: WalletId, { currency = '*', kind }: BillFilter): string =>
  billKeys.partition({ ...id, currency, kind: kind ?? '*' })

/** The length of a list of bills, and the quarter of an hour of its newest bill, -1 if the list is empty. */
export function measureList(wallet: Wallet, { currency, kind }: BillFilter) {
  let length = 0
  let lastQuarter = -1
  for (const [code, { bills }] of wallet.holdings) {
    if (currency !== undefined && currency !== code) continue
    for (const [type, counted] of Object.entries(bills)) {
      if (kind !== undefined && kind !== type && kind !== billTypes[type as BillType]) continue
      length += counted.count
      lastQuarter = Math.max(lastQuarter, counted.lastQuarter)
    }
  }
  return { length, lastQuarter }
}

/** The six lists of a bill of this currency and type; the first is that of all bills of the wallet. */
export const filtersOf = (currency: string, type: BillType): BillFilter[] =>
  [undefined, currency].flatMap((code) =>
    [undefined, billTypes[type], type].map((kind) => ({ currency: code, kind })),
  )

/** The writes of a bill: one for each of its six lists. */
export function putBill({ walletBefore, posting, balanceAfter, createdAt }: NewBill): Write[] {
  const { id } = walletBefore
  const { currency, type } = posting
  const item = {
    id: `${id.wallet === 'asset' ? 'A' : 'R'}${id.userId}-${measureList(walletBefore, {}).length + 1}`,
    currency,
    amount: toNumberValue(posting.amount),
    type,
    balance_after: toNumberValue(balanceAfter),
    reference: posting.reference,
    remark: posting.remark,
    created_at: createdAt,
  }
  return filtersOf(currency, type).map((filter) => {
    const list = listName(id, filter)
    const { length, lastQuarter } = measureList(walletBefore, filter)
    const indexed = quarterOf(createdAt) > lastQuarter ? instantKeys(list, createdAt, length + 1) : {}
    return { Put: { Item: { ...rowKey(list, length + 1), ...indexed, ...item } } }
  })
}

/** Parses a bill from a row of a list. */
export function toBill(row: Item): Bill {
  const { type, remark, ...rest } = v.parse(BillItem, row)
  return { ...rest, amount_direction: billTypes[type], business_id: type, remark: remark ?? null }
}

/** Query parameters of a page of bills. */
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

/** The first round of reads for a page of bills; undefined if no bill can match the query. */
export async function readBillsStart(
  query: BillsQuery,
  userId: number,
  wallet: WalletName,
): Promise<ListStart | undefined> {
  const filter = toFilter(query)
  if (filter === undefined) return undefined
  const id = { userId, wallet }
  const readLength = async () => measureList(await readWallet(id), filter).length
  return readListStart(listName(id, filter), readLength(), query)
}

/** Reads a page of bills, newest first, from the result of its first round of reads. */
export async function readBillsPage(query: BillsQuery, start: ListStart | undefined) {
  const { rows, total } = await readListPage(start, query)
  return toPage(rows.map(toBill), total, query)
}

/** Finds the list of bills for a query; undefined if no bill can match its currency, type and direction. */
function toFilter({ currency, amountDirection, businessId }: BillsQuery): BillFilter | undefined {
  if (currency !== undefined && !v.is(CurrencyCode, currency)) return undefined
  if (businessId === undefined) return { currency, kind: amountDirection }
  if (!v.is(BillType, businessId)) return undefined
  if (amountDirection !== undefined && amountDirection !== billTypes[businessId]) return undefined
  return { currency, kind: businessId }
}

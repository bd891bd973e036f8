import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { instantKeys, readRange, rowKey } from '../db/numbered-list.ts'
import { readItems } from '../db/read.ts'
import { Decimal, toNumberValue } from '../db/decimal.ts'
import { Integer, type Item } from '../db/table.ts'
import type { Write } from '../db/write.ts'
import { Money } from '../money.ts'
import { type BillFilter, BillType, billTypes, Direction, filtersOf, selects } from './bill-type.ts'
import { quarterOf } from './mark.ts'
import type { NewBill } from './movement.ts'
import type { Wallet, WalletId } from './wallet.ts'

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
 * The rows of a list of bills are numbered from 1 without gaps. Every bill is a row of the list of all bills
 * of its wallet, and is stored there only: the wallet's index tells which numbers a filter selects, see
 * bill-index.ts.
 *
 * A wallet of an earlier release has five more copies of each bill, in a list for each of its other filters,
 * and the index of the table finds the first bill of every quarter of an hour in them. For example, a deposit
 * of USDT to the asset wallet of user 7 is in these partitions:
 *
 *     BL#7#asset#*#*       BL#7#asset#*#1       BL#7#asset#*#DEPOSIT
 *     BL#7#asset#USDT#*    BL#7#asset#USDT#1    BL#7#asset#USDT#DEPOSIT
 */
const billKeys = itemType({
  pk: 'BL#{userId}#{wallet}#{currency}#{kind}',
  sk: '{number}',
  gpk: 'BL#{userId}#{wallet}#{currency}#{kind}',
  gsk: '{instant}#{number}',
  holds: 'a bill; in a wallet of an earlier release once in each of its six lists',
  found: 'by its number; the first bill of a day in the index, in six lists only',
})

/** Partition key of a list of bills. */
export const listName = (id: WalletId, { currency = '*', kind }: BillFilter): string =>
  billKeys.partition({ ...id, currency, kind: kind ?? '*' })

/** The length of a list of bills, and the quarter of an hour of its newest bill, -1 if the list is empty. */
export function measureList(wallet: Wallet, filter: BillFilter) {
  let length = 0
  let lastQuarter = -1
  for (const [code, { bills }] of wallet.holdings) {
    for (const [type, counted] of Object.entries(bills)) {
      if (!selects(filter, code, type as BillType)) continue
      length += counted.count
      lastQuarter = Math.max(lastQuarter, counted.lastQuarter)
    }
  }
  return { length, lastQuarter }
}

/** The writes of a bill: one, or in a wallet of an earlier release one for each of its six lists. */
export function putBill({ walletBefore, posting, balanceAfter, createdAt }: NewBill): Write[] {
  const { id } = walletBefore
  const { currency, type } = posting
  const number = measureList(walletBefore, {}).length + 1
  const item = {
    id: `${id.wallet === 'asset' ? 'A' : 'R'}${id.userId}-${number}`,
    currency,
    amount: toNumberValue(posting.amount),
    type,
    balance_after: toNumberValue(balanceAfter),
    reference: posting.reference,
    remark: posting.remark,
    created_at: createdAt,
  }
  if (walletBefore.index !== undefined)
    return [{ Put: { Item: { ...rowKey(listName(id, {}), number), ...item } } }]
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

/** Number of times that a page of bills may read what it needs, as a range, to save reads of single bills. */
const maxDilution = 8

/**
 * Reads bills by their numbers, newest first. Eventually consistent, and strongly consistent those that this
 * does not find: numbers come from what was written with the bills, or after them. Throws if one is missing.
 */
export async function readBills(id: WalletId, numbers: readonly number[]): Promise<Bill[]> {
  const [oldest, newest] = [numbers.at(0), numbers.at(-1)]
  if (oldest === undefined || newest === undefined) return []
  const list = listName(id, {})
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

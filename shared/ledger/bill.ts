import * as v from 'valibot'
import { type Bounds, instantKeys, pageWindow, readWindow, rowKey } from '../db/numbered-list.ts'
import { Decimal, Integer, toNumberValue } from '../db/table.ts'
import type { Write } from '../db/write.ts'
import { type PageRequest, toPage } from '../http/page.ts'
import { type Big, Money } from '../money.ts'
import { type Filter, filtersOf, listName, measureList } from './bill-list.ts'
import { BillType, billTypes, Direction } from './bill-types.ts'
import type { Wallet } from './wallet.ts'

/** A bill as its owner sees it. It never changes. */
export const Bill = v.object({
  id: v.string(),
  currency: v.string(),
  /** Positive, whatever the direction. */
  amount: Money,
  amount_direction: Direction,
  business_id: BillType,
  /** Balance and hold of the currency together, after this bill. */
  balance_after: Money,
  /** Business key of the event behind it. */
  reference: v.string(),
  remark: v.nullable(v.string()),
  /** Instant of booking, epoch milliseconds. */
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

/** What a new bill says, before it is numbered. */
export interface BillDraft {
  type: BillType
  currency: string
  amount: Big
  balanceAfter: Big
  reference: string
  remark?: string | undefined
  createdAt: number
}

/**
 * A slot is a quarter of an hour: every day of every time zone in use begins with one. Only the first bill of a slot is
 * found by its instant, which is enough to find where a day begins, and spares the index of a busy wallet.
 */
export const slotOf = (instant: number): number => Math.floor(instant / 900_000)

/**
 * The writes that file a bill into its six lists, given the wallet as it stood before it.
 */
export function fileBill(wallet: Wallet, draft: BillDraft): Write[] {
  const { length: earlier } = measureList(wallet, {})
  const item = {
    id: `${wallet.id.wallet === 'asset' ? 'A' : 'R'}${wallet.id.userId}-${earlier + 1}`,
    currency: draft.currency,
    amount: toNumberValue(draft.amount),
    type: draft.type,
    balance_after: toNumberValue(draft.balanceAfter),
    reference: draft.reference,
    remark: draft.remark,
    created_at: draft.createdAt,
  }
  return filtersOf(draft.currency, draft.type).map((filter) => {
    const list = listName(wallet.id, filter)
    const { length, slot } = measureList(wallet, filter)
    const firstOfSlot = slotOf(draft.createdAt) > slot
    return {
      Put: {
        Item: {
          ...rowKey(list, length + 1),
          ...(firstOfSlot ? instantKeys(list, draft.createdAt, length + 1) : {}),
          ...item,
        },
      },
    }
  })
}

/** A page of a wallet's bills, newest first. `bounds` are those of the filter's list. */
export async function readBills(wallet: Wallet, filter: Filter, bounds: Bounds, page: PageRequest) {
  const window = pageWindow(measureList(wallet, filter).length, bounds, page)
  const rows = await readWindow(listName(wallet.id, filter), window)
  return toPage(rows.map(toBill), window.total, page)
}

/** The bill that a row describes. */
export function toBill(row: Record<string, unknown>): Bill {
  const { type, remark, ...rest } = v.parse(BillItem, row)
  return { ...rest, amount_direction: billTypes[type], business_id: type, remark: remark ?? null }
}

import * as v from 'valibot'
import { Decimal, toNumberValue } from '../db/decimal.ts'
import { itemType } from '../db/item-type.ts'
import { rowKey } from '../db/numbered-list.ts'
import { Integer, type Item } from '../db/table.ts'
import type { Write } from '../db/write.ts'
import { type Big, Money } from '../money.ts'
import { BillType, billTypes, Direction } from './bill-types.ts'
import type { WalletId } from './wallet.ts'

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

/** A bill that is not written yet. */
export interface NewBill {
  id: WalletId
  /** Its number in its wallet: 1, 2, 3, … without gaps. */
  number: number
  type: BillType
  currency: string
  amount: Big
  reference: string
  remark?: string | undefined
  balanceAfter: Big
  createdAt: number
}

const billKeys = itemType({
  pk: 'BL#{userId}#{wallet}',
  sk: '{number}',
  holds: 'a bill; the wallet’s index tells which numbers a filter selects',
  found: 'by its number',
})

/** The numbered list of a wallet's bills. */
export const billList = (id: WalletId): string => billKeys.partition({ ...id })

/** The write of a bill. */
export function putBill({ id, number, type, currency, reference, remark, ...bill }: NewBill): Write {
  const item = {
    id: `${id.wallet === 'asset' ? 'A' : 'R'}${id.userId}-${number}`,
    currency,
    amount: toNumberValue(bill.amount),
    type,
    balance_after: toNumberValue(bill.balanceAfter),
    reference,
    remark,
    created_at: bill.createdAt,
  }
  return { Put: { Item: { ...rowKey(billList(id), number), ...item } } }
}

/** Parses a bill from its item. */
export function toBill(row: Item): Bill {
  const { type, remark, ...rest } = v.parse(BillItem, row)
  return { ...rest, amount_direction: billTypes[type].direction, business_id: type, remark: remark ?? null }
}

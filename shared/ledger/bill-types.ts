import * as v from 'valibot'

/** 1 adds to a wallet, 2 takes from it. */
export const Direction = v.picklist([1, 2])
export type Direction = v.InferOutput<typeof Direction>

/** Every type of bill (`business_id`) and which way it moves money. */
export const billTypes = {
  DEPOSIT: 1,
  WITHDRAWAL: 2,
  TRANSFER_IN: 1,
  TRANSFER_OUT: 2,
  REWARD: 1,
  PACKAGE_PURCHASE: 2,
  ADJUSTMENT_CREDIT: 1,
  ADJUSTMENT_DEBIT: 2,
} as const satisfies Record<string, Direction>

export const BillType = v.picklist(Object.keys(billTypes) as (keyof typeof billTypes)[])
export type BillType = v.InferOutput<typeof BillType>

import * as v from 'valibot'

/** Direction of a bill: 1 adds to a wallet, 2 takes from it. */
export const Direction = v.picklist([1, 2])
export type Direction = v.InferOutput<typeof Direction>

/** Every type of bill (`business_id`), with its direction. */
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

/** What a client can select bills by, apart from dates: a currency, and a direction or a type. */
export interface BillFilter {
  currency?: string | undefined
  kind?: Direction | BillType | undefined
}

/** Whether a filter selects the bills of a currency and type. */
export const selects = ({ currency, kind }: BillFilter, code: string, type: BillType): boolean =>
  (currency === undefined || currency === code) &&
  (kind === undefined || kind === type || kind === billTypes[type])

/** Whether a filter selects all bills. */
export const selectsAll = ({ currency, kind }: BillFilter): boolean =>
  currency === undefined && kind === undefined

/** The six filters that select the bills of a currency and type; the first is the one that selects all. */
export const filtersOf = (currency: string, type: BillType): BillFilter[] =>
  [undefined, currency].flatMap((code) =>
    [undefined, billTypes[type], type].map((kind) => ({ currency: code, kind })),
  )

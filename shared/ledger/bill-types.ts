import * as v from 'valibot'
import { Integer } from '../db/table.ts'

/** Direction of a bill: 1 adds to a wallet, 2 takes from it. */
export const Direction = v.picklist([1, 2])
export type Direction = v.InferOutput<typeof Direction>

/** How the ledger treats a type of bill. */
interface BillTypeRow {
  /** This number stands for the type in stored data. It is 0 to 15, and must never change. */
  code: number
  direction: Direction
  /** Detail-type of the event that causes bills of this type. */
  event: `${string}.${string}`
}

/** Every type of bill (`business_id`), in any order. A new type takes the next free `code`. */
export const billTypes = {
  DEPOSIT: { code: 0, direction: 1, event: 'deposit.updated' },
  WITHDRAWAL: { code: 1, direction: 2, event: 'withdrawal.updated' },
  TRANSFER_IN: { code: 2, direction: 1, event: 'wallet.transferred' },
  TRANSFER_OUT: { code: 3, direction: 2, event: 'wallet.transferred' },
  REWARD: { code: 4, direction: 1, event: 'reward.granted' },
  PACKAGE_PURCHASE: { code: 5, direction: 2, event: 'package.purchased' },
  ADJUSTMENT_CREDIT: { code: 6, direction: 1, event: 'wallet.adjusted' },
  ADJUSTMENT_DEBIT: { code: 7, direction: 2, event: 'wallet.adjusted' },
  WITHDRAWAL_FEE: { code: 8, direction: 2, event: 'withdrawal.updated' },
} as const satisfies Record<string, BillTypeRow>

export const BillType = v.picklist(Object.keys(billTypes) as (keyof typeof billTypes)[])
export type BillType = v.InferOutput<typeof BillType>

const maxTypes = 16

/**
 * The code of a bill. Combines the bill's type with the number by which the wallet identifies the bill's
 * currency.
 */
export const codeOf = (currencyNumber: number, type: BillType): number =>
  currencyNumber * maxTypes + billTypes[type].code

const typesByCode = new Map(BillType.options.map((type) => [billTypes[type].code as number, type]))

/** Splits a bill's code: the bill's type, and the number that stands for its currency in the wallet. */
export function splitCode(code: number): { currencyNumber: number; type: BillType } {
  const type = typesByCode.get(code % maxTypes)
  if (type === undefined) throw new Error('a mark has an unknown type')
  return { currencyNumber: Math.floor(code / maxTypes), type }
}

/** How many bills there are of each bill code (currency and type). */
export type Counts = ReadonlyMap<number, number>

/** Adds `by` to the count of bills with the given code (currency and type, see codeOf). */
export const addToCounts = (counts: Counts, code: number, by = 1): Counts =>
  new Map(counts).set(code, (counts.get(code) ?? 0) + by)

/** Schema of stored counts of bills. The keys are bill codes (see codeOf) in decimal. Zeros are left out. */
export const StoredCounts = v.pipe(
  v.record(v.string(), Integer),
  v.transform(
    (counts): Counts => new Map(Object.entries(counts).map(([code, count]) => [Number(code), count])),
  ),
)

/** Converts counts of bills to their stored form. */
export const toStoredCounts = (counts: Counts): Record<string, number> =>
  Object.fromEntries([...counts].filter(([, count]) => count > 0))

/**
 * The criteria, besides dates, by which a client can select bills: a currency, and either a direction or a
 * type.
 */
export interface BillFilter {
  currency?: string | undefined
  kind?: Direction | BillType | undefined
}

/** Whether a filter selects the bills of a currency and type. */
export const selects = ({ currency, kind }: BillFilter, code: string, type: BillType): boolean =>
  (currency === undefined || currency === code) &&
  (kind === undefined || kind === type || kind === billTypes[type].direction)

/** Whether a filter selects all bills. */
export const selectsAll = ({ currency, kind }: BillFilter): boolean =>
  currency === undefined && kind === undefined

/** All filters that select bills of this currency and type, except the filter that selects every bill. */
export const filtersOf = (currency: string, type: BillType): BillFilter[] =>
  [undefined, currency]
    .flatMap((code) => [undefined, billTypes[type].direction, type].map((kind) => ({ currency: code, kind })))
    .slice(1)

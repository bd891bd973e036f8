import { type BillType, billTypes, type Direction } from './bill-types.ts'
import { type Holding, type Wallet, type WalletId, walletPath } from './wallet.ts'

/** Which bills of a wallet are in a list: those of a currency, or all; those of a direction or of a type, or all. */
export interface Filter {
  currency?: string | undefined
  kind?: Direction | BillType | undefined
}

/** Partition of a list of bills. Each bill is filed into six. */
export const listName = (id: WalletId, { currency, kind }: Filter): string =>
  `BL#${walletPath(id)}#${currency ?? '*'}#${kind ?? '*'}`

/** The six lists that a bill belongs to. */
export function filtersOf(currency: string, type: BillType): Filter[] {
  const kinds = [undefined, billTypes[type], type]
  return [undefined, currency].flatMap((code) => kinds.map((kind) => ({ currency: code, kind })))
}

/**
 * How long a list is, and in which slot its newest bill was booked (-1 where it is empty). Only the bills of each currency
 * and type are counted in the table; every longer list is the sum of such.
 */
export function measureList(wallet: Wallet, { currency, kind }: Filter): { length: number; slot: number } {
  const holdings =
    currency === undefined ? [...wallet.holdings.values()] : present(wallet.holdings.get(currency))
  const matching = holdings.flatMap(({ filed }) =>
    Object.entries(filed)
      .filter(([type]) => kind === undefined || kind === type || kind === billTypes[type as BillType])
      .map(([, its]) => its),
  )
  return {
    length: matching.reduce((sum, { count }) => sum + count, 0),
    slot: matching.reduce((newest, { slot }) => Math.max(newest, slot), -1),
  }
}

const present = (holding: Holding | undefined): Holding[] => (holding === undefined ? [] : [holding])

import * as v from 'valibot'
import { Money } from '../money.ts'
import type { Wallet } from './wallet.ts'

/** One currency of a wallet as its owner sees it. */
export const Account = v.object({
  currency: v.string(),
  /** What can be spent. */
  balance: Money,
  /** What is set aside for withdrawals on their way. */
  hold: Money,
  /** All that was ever deposited. */
  deposited: Money,
  /** All that was ever withdrawn. */
  withdrawal: Money,
})
export type Account = v.InferOutput<typeof Account>

/** The currencies of a wallet, in alphabetical order; only the named one where one is named. */
export const listAccounts = (wallet: Wallet, only?: string): Account[] =>
  [...wallet.holdings]
    .filter(([currency]) => only === undefined || currency === only)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, { balance, hold, deposited, withdrawal }]) => ({
      currency,
      balance,
      hold,
      deposited,
      withdrawal,
    }))

import * as v from 'valibot'
import { CurrencyFilter } from '../../shared/fields.ts'
import { endpoint } from '../../shared/http/endpoint.ts'
import { Account, listAccounts } from '../../shared/ledger/account.ts'
import { readWallet } from '../../shared/ledger/wallet.ts'

/** What the caller's asset wallet holds of each currency, or of the one named. */
export const handler = endpoint({
  scope: 'account.read',
  input: v.object({ query: v.object({ currency: CurrencyFilter }) }),
  output: v.array(Account),
  prefetch: (_input, userId) => readWallet({ userId, wallet: 'asset' }),
  run: async ({ input, prefetched: wallet }) => listAccounts(wallet, input.query.currency),
})

import * as v from 'valibot'
import { CurrencyFilter } from '../../shared/fields.ts'
import { signedInEndpoint } from '../../shared/http/signed-in-endpoint.ts'
import { warmUp } from '../../shared/http/warm-up.ts'
import { Account, listAccounts } from '../../shared/ledger/account.ts'
import { readWallet } from '../../shared/ledger/wallet.ts'

/** Returns the balances of the caller's asset wallet, in all currencies or in the requested one. */
export const handler = signedInEndpoint({
  scope: 'account.read',
  input: v.object({ query: v.object({ currency: CurrencyFilter }) }),
  output: v.array(Account),
  prefetch: (_input, userId) => readWallet({ userId, wallet: 'asset' }),
  run: async ({ input, prefetched: wallet }) => listAccounts(wallet, input.query.currency),
})

await warmUp(handler)

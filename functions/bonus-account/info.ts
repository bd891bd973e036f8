import * as v from 'valibot'
import { signedInEndpoint } from '../../shared/http/signed-in-endpoint.ts'
import { warmUp } from '../../shared/http/warm-up.ts'
import { Account, listAccounts } from '../../shared/ledger/account.ts'
import { readWallet } from '../../shared/ledger/wallet.ts'

/** Returns the balances of the caller's reward wallet in all currencies. */
export const handler = signedInEndpoint({
  scope: 'account.read',
  input: v.object({}),
  output: v.array(Account),
  prefetch: (_input, userId) => readWallet({ userId, wallet: 'reward' }),
  run: async ({ prefetched: wallet }) => listAccounts(wallet),
})

await warmUp(handler)

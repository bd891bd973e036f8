import * as v from 'valibot'
import { signedInEndpoint } from '../../shared/http/signed-in-endpoint.ts'
import { warmUp } from '../../shared/http/warm-up.ts'
import { AssetSummary, summarizeAssets } from '../../shared/ledger/account.ts'
import { readWallet } from '../../shared/ledger/wallet.ts'
import { readRecentRates } from '../../shared/rates/rates.ts'

/** Returns what the caller's asset wallet is worth in the quote currency. */
export const handler = signedInEndpoint({
  scope: 'account.read',
  input: v.object({}),
  output: AssetSummary,
  prefetch: (_input, userId) => Promise.all([readWallet({ userId, wallet: 'asset' }), readRecentRates()]),
  run: async ({ prefetched: [wallet, rates] }) => summarizeAssets(wallet, rates),
})

await warmUp(handler)

import * as v from 'valibot'
import { claimAddress, readUserAddress, UserAddress } from '../../shared/deposits/user-address.ts'
import { CurrencyCode } from '../../shared/fields.ts'
import { signedInEndpoint } from '../../shared/http/signed-in-endpoint.ts'
import { warmUp } from '../../shared/http/warm-up.ts'

/** Returns the caller's own deposit address for a currency on a network; the first request assigns it. */
export const handler = signedInEndpoint({
  scope: 'deposit.read',
  input: v.object({ query: v.object({ currency: CurrencyCode, currencyNetWork: CurrencyCode }) }),
  output: UserAddress,
  prefetch: ({ query }, userId) =>
    readUserAddress(userId, { currency: query.currency, network: query.currencyNetWork }),
  run: async ({ input: { query }, caller: { userId }, prefetched: known }) =>
    known ?? claimAddress(userId, { currency: query.currency, network: query.currencyNetWork }),
})

await warmUp(handler)

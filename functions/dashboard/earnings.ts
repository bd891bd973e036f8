import * as v from 'valibot'
import { EarningPoint, EarningsQuery, readEarnings } from '../../shared/dashboard/earnings.ts'
import { signedInEndpoint } from '../../shared/http/signed-in-endpoint.ts'

/** Answers what the caller earned on each day of the requested period. */
export const handler = signedInEndpoint({
  scope: 'dashboard.read',
  input: v.object({ query: EarningsQuery }),
  output: v.array(EarningPoint),
  // Earnings are not prefetched, so that a request that fails the session check does not read them.
  run: ({ input, caller }) => readEarnings(caller.userId, input.query),
})

import * as v from 'valibot'
import { EarningPoint, EarningsQuery, readEarnings } from '../../shared/dashboard/earnings.ts'
import { signedInEndpoint } from '../../shared/http/signed-in-endpoint.ts'
import { warmUp } from '../../shared/http/warm-up.ts'

/** Returns what the caller earned on each day of the requested period. */
export const handler = signedInEndpoint({
  scope: 'dashboard.read',
  input: v.object({ query: EarningsQuery }),
  output: v.array(EarningPoint),
  // Has no `prefetch`: the earnings are read only after the session check has passed.
  run: ({ input, caller }) => readEarnings(caller.userId, input.query),
})

await warmUp(handler)

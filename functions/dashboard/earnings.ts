import * as v from 'valibot'
import { EarningPoint, EarningsQuery, readEarnings } from '../../shared/dashboard/earnings.ts'
import { signedInEndpoint } from '../../shared/http/signed-in-endpoint.ts'

/** Answers what the caller earned on each day of a window of days. */
export const handler = signedInEndpoint({
  scope: 'dashboard.read',
  input: v.object({ query: EarningsQuery }),
  output: v.array(EarningPoint),
  // Reads only after the session check, so that a stranger's request costs none of these reads.
  run: ({ input, caller }) => readEarnings(caller.userId, input.query),
})

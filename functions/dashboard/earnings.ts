import * as v from 'valibot'
import { EarningPoint, EarningsQuery, readEarnings } from '../../shared/dashboard/earnings.ts'
import { signedInEndpoint } from '../../shared/http/signed-in-endpoint.ts'

/** Answers what the caller earned on each day of a window of days. */
export const handler = signedInEndpoint({
  scope: 'dashboard.read',
  input: v.object({ query: EarningsQuery }),
  output: v.array(EarningPoint),
  prefetch: ({ query }, userId) => readEarnings(userId, query),
  run: async ({ prefetched }) => prefetched,
})

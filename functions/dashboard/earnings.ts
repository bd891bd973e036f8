import * as v from 'valibot'
import { EarningPoint, EarningsQuery, readEarnings } from '../../shared/dashboard/earnings.ts'
import { endpoint } from '../../shared/http/endpoint.ts'

/** Answers what the caller earned on each day of a window of days. */
export const handler = endpoint({
  scope: 'dashboard.read',
  input: v.object({ query: EarningsQuery }),
  output: v.array(EarningPoint),
  prefetch: ({ query }, userId) => readEarnings(userId, query),
  run: async ({ prefetched }) => prefetched,
})

import * as v from 'valibot'
import { Overview, readOverview } from '../../shared/dashboard/overview.ts'
import { endpoint } from '../../shared/http/endpoint.ts'

/** What the caller owns and has earned. */
export const handler = endpoint({
  scope: 'dashboard.read',
  input: v.object({}),
  output: Overview,
  prefetch: (_input, userId) => readOverview(userId),
  run: async ({ prefetched }) => prefetched,
})

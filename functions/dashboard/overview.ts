import * as v from 'valibot'
import { Overview, readOverview } from '../../shared/dashboard/overview.ts'
import { signedInEndpoint } from '../../shared/http/signed-in-endpoint.ts'
import { warmUp } from '../../shared/http/warm-up.ts'

/** Returns the dashboard's overview: the caller's rewards, devices, traffic, balances and earnings. */
export const handler = signedInEndpoint({
  scope: 'dashboard.read',
  input: v.object({}),
  output: Overview,
  prefetch: (_input, userId) => readOverview(userId),
  run: async ({ prefetched }) => prefetched,
})

await warmUp(handler)

import * as v from 'valibot'
import { NetworkReward, readNetworkRewards } from '../../shared/dashboard/overview.ts'
import { signedInEndpoint } from '../../shared/http/signed-in-endpoint.ts'
import { warmUp } from '../../shared/http/warm-up.ts'

/** Returns the sums of the caller's rewards by reward type and currency. */
export const handler = signedInEndpoint({
  scope: 'dashboard.read',
  input: v.object({}),
  output: v.array(NetworkReward),
  // Has no `prefetch`: the rewards are read only after the session check has passed.
  run: ({ caller }) => readNetworkRewards(caller.userId),
})

await warmUp(handler)

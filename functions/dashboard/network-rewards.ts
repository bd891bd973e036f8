import * as v from 'valibot'
import { NetworkReward, readNetworkRewards } from '../../shared/dashboard/overview.ts'
import { signedInEndpoint } from '../../shared/http/signed-in-endpoint.ts'

/** Answers the sums of the caller's rewards by reward type and currency. */
export const handler = signedInEndpoint({
  scope: 'dashboard.read',
  input: v.object({}),
  output: v.array(NetworkReward),
  // Rewards are not prefetched, so that a request that fails the session check does not read them.
  run: ({ caller }) => readNetworkRewards(caller.userId),
})

import * as v from 'valibot'
import { NetworkReward, readNetworkRewards } from '../../shared/dashboard/overview.ts'
import { signedInEndpoint } from '../../shared/http/signed-in-endpoint.ts'

/** Answers the sums of the caller's rewards by reward type and currency. */
export const handler = signedInEndpoint({
  scope: 'dashboard.read',
  input: v.object({}),
  output: v.array(NetworkReward),
  // Not prefetched, so that a request that fails the session check costs no reads of rewards.
  run: ({ caller }) => readNetworkRewards(caller.userId),
})

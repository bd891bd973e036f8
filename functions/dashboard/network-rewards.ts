import * as v from 'valibot'
import { NetworkReward, readNetworkRewards } from '../../shared/dashboard/overview.ts'
import { signedInEndpoint } from '../../shared/http/signed-in-endpoint.ts'

/** Answers the sums of the caller's rewards by reward type and currency. */
export const handler = signedInEndpoint({
  scope: 'dashboard.read',
  input: v.object({}),
  output: v.array(NetworkReward),
  // Reads only after the session check, so that a stranger's request costs none of these reads.
  run: ({ caller }) => readNetworkRewards(caller.userId),
})

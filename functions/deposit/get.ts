import * as v from 'valibot'
import { DepositRecord, isDepositId, readDepositOf } from '../../shared/deposits/deposit.ts'
import { Failure } from '../../shared/errors.ts'
import { signedInEndpoint } from '../../shared/http/signed-in-endpoint.ts'
import { warmUp } from '../../shared/http/warm-up.ts'

/** Returns one of the caller's deposits. Deposits of other users count as unknown: `not_found`. */
export const handler = signedInEndpoint({
  scope: 'deposit.read',
  input: v.object({ path: v.object({ id: v.string() }) }),
  output: DepositRecord,
  prefetch: async ({ path }, userId) => (isDepositId(path.id) ? readDepositOf(userId, path.id) : undefined),
  run: async ({ prefetched: deposit }) => {
    if (deposit === undefined) throw new Failure('not_found')
    return deposit
  },
})

await warmUp(handler)

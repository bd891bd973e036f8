import * as v from 'valibot'
import { Failure } from '../../shared/errors.ts'
import { signedInEndpoint } from '../../shared/http/signed-in-endpoint.ts'
import { warmUp } from '../../shared/http/warm-up.ts'
import { isWithdrawalId, readWithdrawalOf, WithdrawalRecord } from '../../shared/ledger/withdrawal-record.ts'

/** Returns one of the caller's withdrawals. Withdrawals of other users count as unknown: `not_found`. */
export const handler = signedInEndpoint({
  scope: 'account.read',
  input: v.object({ path: v.object({ id: v.string() }) }),
  output: WithdrawalRecord,
  prefetch: async ({ path }, userId) =>
    isWithdrawalId(path.id) ? readWithdrawalOf(userId, path.id) : undefined,
  run: async ({ prefetched: withdrawal }) => {
    if (withdrawal === undefined) throw new Failure('not_found')
    return withdrawal
  },
})

await warmUp(handler)

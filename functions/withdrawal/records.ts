import * as v from 'valibot'
import { signedInEndpoint } from '../../shared/http/signed-in-endpoint.ts'
import { warmUp } from '../../shared/http/warm-up.ts'
import {
  readWithdrawalsPage,
  WithdrawalRecord,
  WithdrawalsQuery,
} from '../../shared/ledger/withdrawal-record.ts'
import { pageOf } from '../../shared/page.ts'

/** Returns a page of the caller's withdrawals, newest first. */
export const handler = signedInEndpoint({
  scope: 'account.read',
  input: v.object({ query: WithdrawalsQuery }),
  output: pageOf(WithdrawalRecord),
  prefetch: ({ query }, userId) => readWithdrawalsPage(query, userId),
  run: async ({ prefetched }) => prefetched,
})

await warmUp(handler)

import * as v from 'valibot'
import { signedInEndpoint } from '../../shared/http/signed-in-endpoint.ts'
import { warmUp } from '../../shared/http/warm-up.ts'
import { pageOf } from '../../shared/page.ts'
import { Bill } from '../../shared/ledger/bill.ts'
import { BillsQuery, readBillsPage } from '../../shared/ledger/find-bills.ts'

/** Returns a page of the bills of the caller's reward wallet, newest first. */
export const handler = signedInEndpoint({
  scope: 'account.read',
  input: v.object({ query: BillsQuery }),
  output: pageOf(Bill),
  prefetch: ({ query }, userId) => readBillsPage(query, { userId, wallet: 'reward' }),
  run: async ({ prefetched }) => prefetched,
})

await warmUp(handler)

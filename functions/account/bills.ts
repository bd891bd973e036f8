import * as v from 'valibot'
import { endpoint } from '../../shared/http/endpoint.ts'
import { pageOf } from '../../shared/http/page.ts'
import { Bill } from '../../shared/ledger/bill.ts'
import { BillsQuery, finishBills, startBills } from '../../shared/ledger/bills-query.ts'

/** A page of the bills of the caller's asset wallet, newest first. */
export const handler = endpoint({
  scope: 'account.read',
  input: v.object({ query: BillsQuery }),
  output: pageOf(Bill),
  prefetch: ({ query }, userId) => startBills(query, userId, 'asset'),
  run: ({ input, prefetched }) => finishBills(input.query, prefetched),
})

import * as v from 'valibot'
import { DepositRecord, readRecordsPage, RecordsQuery } from '../../shared/deposits/deposit.ts'
import { signedInEndpoint } from '../../shared/http/signed-in-endpoint.ts'
import { warmUp } from '../../shared/http/warm-up.ts'
import { pageOf } from '../../shared/page.ts'

/** Returns a page of the caller's deposits, newest first. */
export const handler = signedInEndpoint({
  scope: 'deposit.read',
  input: v.object({ query: RecordsQuery }),
  output: pageOf(DepositRecord),
  prefetch: ({ query }, userId) => readRecordsPage(query, userId),
  run: async ({ prefetched }) => prefetched,
})

await warmUp(handler)

import * as v from 'valibot'
import {
  DepositRecord,
  readRecordsPage,
  readRecordsStart,
  RecordsQuery,
} from '../../shared/deposits/deposit.ts'
import { signedInEndpoint } from '../../shared/http/signed-in-endpoint.ts'
import { pageOf } from '../../shared/page.ts'

/** Answers a page of the caller's deposits, newest first. */
export const handler = signedInEndpoint({
  scope: 'deposit.read',
  input: v.object({ query: RecordsQuery }),
  output: pageOf(DepositRecord),
  prefetch: ({ query }, userId) => readRecordsStart(query, userId),
  run: ({ input, prefetched }) => readRecordsPage(input.query, prefetched),
})

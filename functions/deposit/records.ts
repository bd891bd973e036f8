import * as v from 'valibot'
import { DepositRecord } from '../../shared/deposits/deposit.ts'
import { finishRecords, RecordsQuery, startRecords } from '../../shared/deposits/records-query.ts'
import { endpoint } from '../../shared/http/endpoint.ts'
import { pageOf } from '../../shared/http/page.ts'

/** A page of the caller's deposits, newest first. */
export const handler = endpoint({
  scope: 'deposit.read',
  input: v.object({ query: RecordsQuery }),
  output: pageOf(DepositRecord),
  prefetch: ({ query }, userId) => startRecords(query, userId),
  run: ({ input, prefetched }) => finishRecords(input.query, prefetched),
})

import * as v from 'valibot'
import { answerExport, exportOf } from '../../shared/http/export.ts'
import { signedInEndpoint } from '../../shared/http/signed-in-endpoint.ts'
import { warmUp } from '../../shared/http/warm-up.ts'
import { Bill } from '../../shared/ledger/bill.ts'
import { BillsExportQuery, exportBills, selectBills } from '../../shared/ledger/find-bills.ts'

const csv = { fileName: 'account-bills.csv', columns: v.keyof(Bill).options }

/** Exports the newest bills of the caller's asset wallet, as JSON or CSV. */
export const handler = signedInEndpoint({
  scope: 'account.read',
  input: v.object({ query: BillsExportQuery }),
  output: exportOf(Bill),
  prefetch: ({ query }, userId) => selectBills(query, { userId, wallet: 'asset' }),
  run: async ({ prefetched, request }) => answerExport(await exportBills(prefetched), request, csv),
})

await warmUp(handler)

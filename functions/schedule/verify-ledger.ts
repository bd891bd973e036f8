import type { Context } from 'aws-lambda'
import { consumedUnits, resetConsumedUnits } from '../../shared/db/consumed-units.ts'
import { emitMetric } from '../../shared/emit-metric.ts'
import { listWallets } from '../../shared/ledger/register.ts'
import { readPlace, writePlace } from '../../shared/ledger/verification-place.ts'
import { verifyWallet } from '../../shared/ledger/verify-wallet.ts'
import { log } from '../../shared/log.ts'

/** What one run has looked at. `finished` is false where time ran out; the next run goes on from there. */
export interface VerificationReport {
  wallets: number
  bills: number
  differences: number
  finished: boolean
}

/** Time that is left for the wallet at hand to be finished, in milliseconds. */
const reserveMilliseconds = 120_000

/** Recomputes every balance from its bills, night by night; an alarm watches the number of differences. */
export async function handler(
  _event: unknown,
  context: Pick<Context, 'awsRequestId' | 'getRemainingTimeInMillis'>,
): Promise<VerificationReport> {
  resetConsumedUnits()
  log.resetKeys()
  log.appendKeys({ request_id: context.awsRequestId })
  const report: VerificationReport = { wallets: 0, bills: 0, differences: 0, finished: true }
  let place = await readPlace()
  for await (const next of listWallets(place)) {
    if (context.getRemainingTimeInMillis() < reserveMilliseconds) {
      report.finished = false
      break
    }
    const { bills, differences } = await verifyWallet(next.id)
    report.wallets += 1
    report.bills += bills
    report.differences += differences.length
    for (const { userId, wallet, currency, what } of differences) {
      log.error('the ledger differs', { user_id: userId, wallet, currency, what })
    }
    place = next.place
  }
  await writePlace(report.finished ? { shard: 0 } : place)
  emitMetric('LedgerDifferences', report.differences)
  log.info('ledger verified', { ...report, ...consumedUnits() })
  return report
}

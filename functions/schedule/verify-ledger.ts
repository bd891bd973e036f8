import type { Context } from 'aws-lambda'
import { consumedUnits, resetConsumedUnits } from '../../shared/db/consumed-units.ts'
import { emitMetric } from '../../shared/emit-metric.ts'
import {
  listWallets,
  readVerificationCursor,
  writeVerificationCursor,
} from '../../shared/ledger/list-wallets.ts'
import { verifyWallet } from '../../shared/ledger/verify-wallet.ts'
import { countFailure, isUnavailable } from '../../shared/faults.ts'
import { errorSummary, log } from '../../shared/log.ts'

/**
 * Result of one run of the nightly verification. `finished` is false if time ran out or AWS was unavailable;
 * the next run continues from there.
 */
export interface VerificationReport {
  wallets: number
  bills: number
  differences: number
  finished: boolean
}

/** Time that must be left to start another wallet, so that even one with many bills is finished. */
const reserveMilliseconds = 120_000

/**
 * Recomputes the balances of wallets from their bills, some wallets every night. An alarm watches the number
 * of differences.
 */
export async function handler(
  _event: unknown,
  context: Pick<Context, 'awsRequestId' | 'getRemainingTimeInMillis'>,
): Promise<VerificationReport> {
  resetConsumedUnits()
  log.resetKeys()
  log.appendKeys({ request_id: context.awsRequestId })
  const report: VerificationReport = { wallets: 0, bills: 0, differences: 0, finished: true }
  let cursor = await readVerificationCursor()
  try {
    for await (const next of listWallets(cursor)) {
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
      cursor = next.cursor
    }
  } catch (error) {
    if (!isUnavailable(error)) throw error
    log.warn('the verification goes on in the next run', { cause: errorSummary(error) })
    countFailure(error)
    report.finished = false
  }
  await writeVerificationCursor(report.finished ? { shard: 0 } : cursor)
  emitMetric('LedgerDifferences', report.differences)
  log.info('ledger verified', { ...report, ...consumedUnits() })
  return report
}

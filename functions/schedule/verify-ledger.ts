import type { Context } from 'aws-lambda'
import { consumedUnits, resetConsumedUnits } from '../../shared/db/consumed-units.ts'
import { emitMetric } from '../../shared/emit-metric.ts'
import { countFailure, isUnavailable } from '../../shared/faults.ts'
import {
  isFinished,
  listShard,
  readSlices,
  type Slice,
  takeSlice,
  writeSlice,
} from '../../shared/ledger/verify/slice.ts'
import { verifyWallet } from '../../shared/ledger/verify/wallet.ts'
import type { WalletId } from '../../shared/ledger/wallet.ts'
import { errorSummary, log } from '../../shared/log.ts'

/** Result of one run of the verification. */
export interface VerificationReport {
  wallets: number
  bills: number
  differences: number
  /** Number of slices whose pass this run finished. */
  finished: number
}

type Run = Pick<Context, 'awsRequestId' | 'getRemainingTimeInMillis'>

/** Time that must be left to start further wallets, so that even those with many bills are finished. */
const reserveMilliseconds = 120_000

/** Number of wallets that a run verifies at the same time: enough to keep its processor busy. */
const concurrency = 8

/**
 * Recomputes the balances of wallets from their bills, every wallet once a day. A run takes a slice of the
 * ledger that is due and that no other run has, continues where the last one ended, and takes the next one
 * while time is left. As a run starts every minute and may take fifteen, up to fifteen work at once.
 */
export async function handler(_event: unknown, context: Run): Promise<VerificationReport> {
  resetConsumedUnits()
  log.resetKeys()
  log.appendKeys({ request_id: context.awsRequestId })
  const report: VerificationReport = { wallets: 0, bills: 0, differences: 0, finished: 0 }
  try {
    for (;;) {
      const slice = await claimSlice(context)
      if (slice === undefined || !(await verifySlice(slice, context, report))) break
      report.finished += 1
    }
  } catch (error) {
    if (!isUnavailable(error)) throw error
    log.warn('the verification goes on in the next run', { cause: errorSummary(error) })
    countFailure(error)
  }
  emitMetric('LedgerDifferences', report.differences)
  emitMetric('LedgerWallets', report.wallets)
  log.info('ledger verified', { ...report, ...consumedUnits() })
  return report
}

/** Takes a slice that is due, and tells how far the pass is; undefined without one, or without time. */
async function claimSlice(context: Run): Promise<Slice | undefined> {
  const slices = await readSlices()
  const now = Date.now()
  const left = context.getRemainingTimeInMillis()
  emitMetric('LedgerSlicesVerified', slices.filter(isFinished).length)
  const oldest = Math.min(...slices.map(({ started_at, verified_at }) => verified_at || started_at || now))
  emitMetric('LedgerVerificationAge', (now - oldest) / 1000, { unit: 'Seconds' })
  if (left < reserveMilliseconds) return undefined
  for (const slice of slices) {
    const taken = takeSlice(slice, now, now + left)
    const claimed = taken && (await writeSlice(taken))
    if (claimed !== undefined) return claimed
  }
  return undefined
}

/** Verifies the wallets of a slice while time is left. Resolves with whether its pass is finished. */
async function verifySlice(slice: Slice, context: Run, report: VerificationReport): Promise<boolean> {
  let { after } = slice
  let isDone = false
  try {
    const wallets = listShard(slice.shard, after)
    while (!isDone && context.getRemainingTimeInMillis() >= reserveMilliseconds) {
      const batch: { id: WalletId; path: string }[] = []
      while (batch.length < concurrency && !isDone) {
        const next = await wallets.next()
        if (next.done) isDone = true
        else batch.push(next.value)
      }
      await Promise.all(batch.map(({ id }) => verify(id, report)))
      after = batch.at(-1)?.path ?? after
    }
  } finally {
    const state = isDone ? { verified_at: slice.started_at, after: undefined } : { after }
    await writeSlice({ ...slice, ...state, leased_until: 0 })
  }
  return isDone
}

async function verify(id: WalletId, report: VerificationReport): Promise<void> {
  const { bills, differences } = await verifyWallet(id)
  report.wallets += 1
  report.bills += bills
  report.differences += differences.length
  for (const { userId, wallet, currency, what } of differences) {
    log.error('the ledger differs', { user_id: userId, wallet, currency, what })
  }
}

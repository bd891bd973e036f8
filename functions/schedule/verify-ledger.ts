import type { Context } from 'aws-lambda'
import { consumedUnits, resetConsumedUnits } from '../../shared/db/consumed-units.ts'
import { emitMetric } from '../../shared/emit-metric.ts'
import { countFailure, isUnavailable } from '../../shared/faults.ts'
import { inBatches } from '../../shared/in-batches.ts'
import {
  isAtRest,
  listShard,
  passAt,
  readSlices,
  type Slice,
  writeSlice,
} from '../../shared/ledger/verify/slice.ts'
import { verifyWallet } from '../../shared/ledger/verify/wallet.ts'
import type { WalletId } from '../../shared/ledger/wallet.ts'
import { errorSummary, log } from '../../shared/log.ts'

/** What one invocation of the function has verified. */
export interface VerificationReport {
  wallets: number
  bills: number
  differences: number
}

type Run = Pick<Context, 'awsRequestId' | 'getRemainingTimeInMillis'>

/** Starts to verify more wallets only while this much time is left: enough for wallets with many bills. */
const reserveMilliseconds = 120_000

/** Number of wallets that are verified at the same time: enough to keep the processor busy. */
const concurrency = 8

/**
 * Recomputes the balances of every wallet from its bills once a day. The wallets form sixteen slices, which
 * take turns: every five minutes, an invocation works on the next slice, for at most fifteen minutes. A
 * slice's turns are eighty minutes apart, so two invocations never verify the same slice at once.
 */
export async function handler(_event: unknown, context: Run): Promise<VerificationReport> {
  resetConsumedUnits()
  log.resetKeys()
  log.appendKeys({ request_id: context.awsRequestId })
  const report: VerificationReport = { wallets: 0, bills: 0, differences: 0 }
  try {
    const slice = passAt(await readSliceInTurn(Date.now()), Date.now())
    if (!isAtRest(slice)) await verifySlice(slice, context, report)
  } catch (error) {
    if (!isUnavailable(error)) throw error
    log.warn('the verification goes on in the next run', { cause: errorSummary(error) })
    countFailure(error)
  }
  emitMetric('LedgerDifferences', report.differences)
  log.info('ledger verified', { ...report, ...consumedUnits() })
  return report
}

/** Reads the slice of wallets to verify now. Emits the age of the oldest verification as a metric. */
async function readSliceInTurn(now: number): Promise<Slice> {
  const slices = await readSlices()
  const oldest = Math.min(...slices.map(({ started_at, verified_at }) => verified_at || started_at || now))
  emitMetric('LedgerVerificationAge', (now - oldest) / 1000, { unit: 'Seconds' })
  return slices[Math.floor(now / 300_000) % slices.length] as Slice
}

/** Verifies more wallets of the slice while time is left, and stores where the next invocation continues. */
async function verifySlice(slice: Slice, context: Run, report: VerificationReport): Promise<void> {
  let { after } = slice
  let isDone = false
  try {
    for await (const batch of inBatches(listShard(slice.shard, after), concurrency)) {
      if (context.getRemainingTimeInMillis() < reserveMilliseconds) return
      await Promise.all(batch.map(({ id }) => verify(id, report)))
      after = batch.at(-1)?.path
    }
    isDone = true
  } finally {
    await writeSlice(
      isDone ? { ...slice, verified_at: slice.started_at, after: undefined } : { ...slice, after },
    )
  }
}

async function verify(id: WalletId, report: VerificationReport): Promise<void> {
  const { bills, differences } = await verifyWallet(id)
  report.wallets += 1
  report.bills += bills
  report.differences += differences.length
  for (const { userId, wallet, currency, what } of differences)
    log.error('the ledger differs', { user_id: userId, wallet, currency, what })
}

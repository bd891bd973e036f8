import type { Outcome } from '../events/event-record.ts'
import { type LedgerTransaction, commitBatch, maxBatchSize, type PendingTransaction } from './commit-batch.ts'
import { runExclusive } from '../keyed-mutex.ts'
import { walletPath } from './wallet.ts'

export type { LedgerTransaction } from './commit-batch.ts'

/** Bookings of this process that wait for their wallet's turn. */
const waiting = new Map<string, PendingTransaction[]>()

/**
 * Books movements of money exactly once, all or nothing: the event's key, what goes alongside, each wallet's head under the
 * condition that nobody moved it since, and the bills. A lost race is run again, a bounded number of times. Bookings of
 * this process for the same wallet take turns, and those that wait go together into one transaction.
 *
 * Throws Refused where a balance would become negative or outgrow 38 digits, TooEarly where the user is not registered,
 * ConditionFailed where a condition of `alongside` did not hold, LostRaces when the bound is reached.
 */
export function postTransaction(booking: LedgerTransaction): Promise<Outcome> {
  const paths = booking.wallets.map(({ id }) => walletPath(id))
  const [path] = paths
  if (path === undefined || paths.length > 1 || booking.alongside || !booking.record) {
    return settle(booking, (pending) => runExclusive(paths, () => commitBatch([pending])))
  }
  return settle(booking, (pending) => {
    const line = waiting.get(path) ?? []
    waiting.set(path, line)
    line.push(pending)
    return runExclusive([path], () => takeTurn(path, line))
  })
}

/** Books what waits, as much as fits into one transaction; later turns find the rest, or nothing. */
async function takeTurn(path: string, line: PendingTransaction[]): Promise<void> {
  const group = line.splice(0, maxBatchSize)
  if (line.length === 0) waiting.delete(path)
  if (group.length > 0) await commitBatch(group)
}

const settle = (
  booking: LedgerTransaction,
  start: (pending: PendingTransaction) => Promise<void>,
): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    start({ booking, resolve, reject }).catch(reject)
  })

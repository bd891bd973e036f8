import type { Outcome } from '../events/event-record.ts'
import { type Booking, bookGroup, largestGroup, type Pending } from './book-group.ts'
import { queueByKey } from '../queue-by-key.ts'
import { walletPath } from './wallet.ts'

export type { Booking } from './book-group.ts'

/** Bookings of this process that wait for their wallet's turn. */
const waiting = new Map<string, Pending[]>()

/**
 * Books movements of money exactly once, all or nothing: the event's key, what goes alongside, each wallet's head under the
 * condition that nobody moved it since, and the bills. A lost race is run again, a bounded number of times. Bookings of
 * this process for the same wallet take turns, and those that wait go together into one transaction.
 *
 * Throws Refused where a balance would become negative or outgrow 38 digits, TooEarly where the user is not registered,
 * ConditionFailed where a condition of `alongside` did not hold, LostRaces when the bound is reached.
 */
export function book(booking: Booking): Promise<Outcome> {
  const paths = booking.wallets.map(({ id }) => walletPath(id))
  const [path] = paths
  if (path === undefined || paths.length > 1 || booking.alongside || !booking.record) {
    return settle(booking, (pending) => queueByKey(paths, () => bookGroup([pending])))
  }
  return settle(booking, (pending) => {
    const line = waiting.get(path) ?? []
    waiting.set(path, line)
    line.push(pending)
    return queueByKey([path], () => takeTurn(path, line))
  })
}

/** Books what waits, as much as fits into one transaction; later turns find the rest, or nothing. */
async function takeTurn(path: string, line: Pending[]): Promise<void> {
  const group = line.splice(0, largestGroup)
  if (line.length === 0) waiting.delete(path)
  if (group.length > 0) await bookGroup(group)
}

const settle = (booking: Booking, start: (pending: Pending) => Promise<void>): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    start({ booking, resolve, reject }).catch(reject)
  })

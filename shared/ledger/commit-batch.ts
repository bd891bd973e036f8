import { setTimeout as wait } from 'node:timers/promises'
import { failureOf, tryTransact, type FailedWrite, type Write } from '../db/write.ts'
import { readUser } from '../users/user.ts'
import {
  type EventRecord,
  findOutcome,
  type Outcome,
  putEventRecord,
  resolveDuplicate,
} from '../events/event-record.ts'
import { RejectedEvent, OutOfOrderEvent } from '../events/rejected-event.ts'
import { type Movement, moveAll } from './movement.ts'
import { putWallet, readWallet, toWallet, type Wallet, type WalletId } from './wallet.ts'

export interface LedgerTransaction {
  /** The event behind it; its key is claimed in the same transaction. Without one, `alongside` must hold a guard. */
  record?: EventRecord
  /** What happens to each wallet, in order; each wallet at most once, all of one user. */
  wallets: { id: WalletId; movements: Movement[] }[]
  /**
   * Writes that belong to the same transaction, given the instant of booking. They follow the event's key, so that
   * ConditionFailed tells of their conditions at their places.
   */
  alongside?: (bookedAt: number) => Write[]
}

/** A booking and who waits for it. */
export interface PendingTransaction {
  booking: LedgerTransaction
  resolve: (outcome: Outcome) => void
  reject: (error: Error) => void
}

/** Most bookings of one transaction: an event key and six rows each, beside the head, of at most 100 writes. */
export const maxBatchSize = 12

const attempts = 40
const longestWaitMilliseconds = 150

/** A wallet so busy that every attempt lost its race; the event is to come again. */
export class ContentionError extends Error {
  override readonly name = 'ContentionError'
}

/**
 * Books a group, all for the same wallets, in as few transactions as it takes, and settles each on its own: what is refused or
 * was applied before does not hold up the others.
 */
export async function commitBatch(group: PendingTransaction[]): Promise<void> {
  let left = group
  try {
    let heads = await readHeads(group)
    await checkUser(heads)
    for (let races = 0; left.length > 0;) {
      const step = await bookStep(left, heads)
      left = left.filter((pending) => !step.settled.includes(pending))
      heads = step.heads
      if (!step.lostRace) continue
      races += 1
      if (races === attempts)
        throw new ContentionError(`a wallet moved ${races} times before it could be written`)
      await wait(Math.random() * Math.min(longestWaitMilliseconds, 5 * 2 ** races))
    }
  } catch (error) {
    for (const { reject } of left) reject(error as Error)
  }
}

const readHeads = ([first]: PendingTransaction[]): Promise<Wallet[]> =>
  Promise.all((first?.booking.wallets ?? []).map(({ id }) => readWallet(id, { consistent: true })))

/** What one attempt came to: whom it settled, the wallets as they stand now, and whether somebody else moved one first. */
interface Step {
  settled: PendingTransaction[]
  heads: Wallet[]
  lostRace?: boolean
}

async function bookStep(left: PendingTransaction[], heads: Wallet[]): Promise<Step> {
  const plan = makePlan(left, heads)
  if (plan.refusal !== undefined) return settleRefused(left, heads, plan.refusal)
  const failures = await tryTransact(plan.writes)
  if (failures.length > 0) return settleFailed(plan, heads, failures)
  for (const { resolve } of plan.planned) resolve('applied')
  return { settled: plan.planned, heads: plan.heads }
}

interface Plan {
  /** As many of the bookings as can be done, one after the other, from where the wallets stand. */
  planned: PendingTransaction[]
  /** Why not even the first can be done. */
  refusal?: RejectedEvent
  /** The wallets afterwards. */
  heads: Wallet[]
  /** Events' keys, what goes alongside, heads, bills. */
  writes: Write[]
  /** Where among the writes the heads are. */
  headsAt: number
}

function makePlan(left: PendingTransaction[], before: Wallet[]): Plan {
  const at = Math.max(Date.now(), ...before.map(({ lastAt }) => lastAt))
  const planned: PendingTransaction[] = []
  const bills: Write[] = []
  let heads = before
  for (const pending of left) {
    try {
      const moved = heads.map((head, i) => moveAll(head, pending.booking.wallets[i]?.movements ?? [], at))
      heads = moved.map(({ wallet }) => wallet)
      bills.push(...moved.flatMap(({ writes }) => writes))
      planned.push(pending)
    } catch (error) {
      if (!(error instanceof RejectedEvent)) throw error
      // Only the first may be refused on these grounds: what goes before the others has yet to be written.
      if (planned.length === 0) return { planned, refusal: error, heads, writes: [], headsAt: 0 }
      break
    }
  }
  heads = heads.map((head) => ({ ...head, version: head.version + 1 }))
  const keys = planned.flatMap(({ booking: { record } }) =>
    record === undefined ? [] : [putEventRecord(record)],
  )
  const others = planned.flatMap(({ booking }) => booking.alongside?.(at) ?? [])
  const writes = [...keys, ...others, ...heads.map(putWallet), ...bills]
  return { planned, heads, writes, headsAt: keys.length + others.length }
}

/** Whoever has a wallet is registered, and nobody ever ceases to be: of anybody else it is looked up beforehand. */
async function checkUser(heads: Wallet[]): Promise<void> {
  const unseen = heads.find(({ version }) => version === 0)
  if (unseen !== undefined && (await readUser(unseen.id.userId, { consistent: true })) === undefined) {
    throw new OutOfOrderEvent('unknown_user')
  }
}

/** Settles those whose conditions failed; where a wallet had moved, all that are left are to try again from where it stands. */
function settleFailed({ planned, headsAt, writes }: Plan, heads: Wallet[], failures: FailedWrite[]): Step {
  const failureAt = (i: number) => failures.find(({ write }) => write === writes[i])
  const known = planned.filter(({ booking }, i) => booking.record !== undefined && failureAt(i))
  for (const pending of known) settleKnown(pending, failureAt(planned.indexOf(pending))?.stored)
  if (known.length > 0) return { settled: known, heads }
  if (!heads.some((_, i) => failureAt(headsAt + i))) throw failureOf(failures)
  const current = heads.map((head, i) => {
    const item = failureAt(headsAt + i)?.stored
    return item === undefined ? head : toWallet(head.id, item)
  })
  return { settled: [], heads: current, lostRace: true }
}

/** An event whose key was taken is a duplicate, or refused for its other content. */
function settleKnown(
  { booking: { record }, resolve, reject }: PendingTransaction,
  stored: Record<string, unknown> | undefined,
) {
  try {
    resolve(resolveDuplicate(record as EventRecord, stored))
  } catch (error) {
    reject(error as Error)
  }
}

/** A refusal stands only where it is not the event's own first delivery that used up the money. */
async function settleRefused(
  [first]: PendingTransaction[],
  heads: Wallet[],
  refusal: RejectedEvent,
): Promise<Step> {
  if (first === undefined) return { settled: [], heads }
  try {
    const { record } = first.booking
    const earlier = record && (await findOutcome(record))
    if (earlier === undefined) throw refusal
    first.resolve(earlier)
  } catch (error) {
    first.reject(error as Error)
  }
  return { settled: [first], heads }
}

import { ConditionFailed, failureOf, tryTransact, type Write } from '../db/write.ts'
import {
  effectOf,
  type EventRecord,
  putEventRecord,
  rejectUnlessKnown,
  resolveDuplicate,
} from '../events/event-record.ts'
import type { Result } from '../events/outcome.ts'
import { RejectedEvent, type RejectionReason } from '../events/rejected-event.ts'
import { oneAtATime } from '../one-at-a-time.ts'
import { readUser } from '../users/user.ts'
import { applyMovement, billId, type Movement, type NewBill, putBill } from './bill.ts'
import { closeChunk } from './index/write.ts'
import { putWallet, readWallet, type Wallet, type WalletName } from './wallet.ts'

export interface LedgerTransaction {
  /**
   * The event that causes the transaction. The transaction is posted once per event. If there is no event,
   * one of the writes in `alongside` must fail on a second posting.
   */
  record?: EventRecord
  /** Time at which the transaction is booked, epoch milliseconds. Default: the booking time of its event. */
  at?: number
  /** Instant that the event states, epoch milliseconds. */
  occurredAt: number
  userId: number
  /** The movements in order, each with its wallet. Those of one wallet are one change of it. */
  wallets: { wallet: WalletName; movement: Movement }[]
  /** Builds further writes for the same DynamoDB transaction, given the changed wallets. */
  alongside?: (bookedAt: number, wallets: readonly Wallet[]) => Write[]
}

/**
 * Posts a ledger transaction exactly once, all or nothing, in one DynamoDB transaction. Within a process, a
 * user's transactions wait for each other, so a batch is applied in order. Resolves with the first bill as
 * the subject, unless the event has another one.
 *
 * Throws RejectedEvent if a balance or hold would become negative or exceed 38 digits, if a wallet would have
 * too many currencies, if the event's key was used with other content, or for an unknown user. Throws
 * ConditionFailed if another process changed a wallet first. If a write of `alongside` fails, throws that
 * write's error.
 */
export const postTransaction = (transaction: LedgerTransaction): Promise<Result> =>
  forOneUser(transaction.userId, () => attempt(transaction))

const forOneUser = oneAtATime<number>()

async function attempt(transaction: LedgerTransaction): Promise<Result> {
  const { alongside } = transaction
  const before = await readWallets(transaction)
  const decision = before === undefined ? unknownUser : decide(before, transaction)
  if (decision.rejection !== undefined) {
    const rejection = new RejectedEvent(decision.rejection)
    if (transaction.record === undefined) throw rejection
    // An earlier delivery of this event may have used the money. If so, the outcome of that delivery counts.
    return rejectUnlessKnown(transaction.record, rejection)
  }
  const { wallets, bills, bookedAt } = decision
  const [bill] = bills
  const subject = transaction.record?.subject ?? (bill && { id: billId(bill) })
  const record = transaction.record && { ...transaction.record, subject }
  const eventKey = record && putEventRecord(record, bookedAt)
  const heads = wallets.map(putWallet)
  const failures = await tryTransact([
    ...(eventKey ? [eventKey] : []),
    ...(alongside?.(bookedAt, wallets) ?? []),
    ...bills.map(putBill),
    ...heads,
  ])
  if (failures.length === 0)
    return record ? effectOf(record, bookedAt) : { outcome: 'applied', subject, at: bookedAt }
  const used = failures.find(({ write }) => write === eventKey)
  const known = record && used && resolveDuplicate(record, used.stored)
  if (known !== undefined) return known
  throw failures.some(({ write }) => heads.includes(write)) ? new ConditionFailed() : failureOf(failures)
}

/**
 * Reads a transaction's wallets; undefined for an unknown user. If a wallet's item lists many bills, moves
 * the oldest to the bill index.
 */
async function readWallets({ userId, wallets }: LedgerTransaction): Promise<Wallet[] | undefined> {
  const names = [...new Set(wallets.map(({ wallet }) => wallet))]
  const found = await Promise.all(names.map((wallet) => readWallet({ userId, wallet }, { consistent: true })))
  // Only a registered user gets a wallet: refuses the first transaction of an unknown user.
  const isNew = found.some(({ version }) => version === 0)
  if (isNew && (await readUser(userId, { consistent: true })) === undefined) return undefined
  return Promise.all(found.map(closeChunk))
}

/** The wallets and bills after a transaction, or the reason why it is rejected. */
type Decision =
  | { wallets: Wallet[]; bills: NewBill[]; bookedAt: number; rejection?: undefined }
  | { rejection: RejectionReason }

const unknownUser = { rejection: 'unknown_user' } as const

/** Computes the wallets and bills after a transaction. Dates it no earlier than a wallet's last movement. */
export function decide(
  before: readonly Wallet[],
  { record, at, occurredAt, wallets }: LedgerTransaction,
): Decision {
  const now = at ?? record?.delivery.bookedAt ?? Date.now()
  const bookedAt = Math.max(now, ...before.map(({ lastAt }) => lastAt))
  const after = new Map(before.map((wallet) => [wallet.id.wallet, wallet]))
  const bills: NewBill[] = []
  for (const { wallet: name, movement } of wallets) {
    const applied = applyMovement(after.get(name) as Wallet, movement, bookedAt, occurredAt)
    if (applied.rejection !== undefined) return applied
    after.set(name, applied.wallet)
    if (applied.bill !== undefined) bills.push(applied.bill)
  }
  const changed = [...after.values()].map((wallet) => ({ ...wallet, version: wallet.version + 1 }))
  return { wallets: changed, bills, bookedAt }
}

import { transact, type Write } from '../db/write.ts'
import { type EventRecord, findOutcome } from '../events/event-record.ts'
import type { Outcome, Result } from '../events/outcome.ts'
import { RejectedEvent } from '../events/rejected-event.ts'
import { postTransaction } from '../ledger/post-transaction.ts'
import type { Posting } from '../ledger/bill.ts'
import type { Big } from '../money.ts'
import { addressDigest, readAddress } from './address.ts'
import {
  addApplied,
  countDeposits,
  type Deposit,
  depositId,
  type DepositName,
  type DepositStatus,
  hasApplied,
  putDeposit,
  putDepositCount,
  readDeposit,
  readDepositCount,
} from './deposit.ts'

/** The data of a deposit event from the chain watcher. */
export interface DepositUpdate extends DepositName {
  /** Id that the bus gave the event. */
  eventId: string
  /** When the event arrived or, if it is replayed, when it was first sent; epoch milliseconds. */
  bookedAt: number
  /** Instant that the event states, epoch milliseconds. */
  occurredAt: number
  address: string
  tag?: string | undefined
  currency: string
  amount: Big
  status: DepositStatus
  confirmations: number
}

/**
 * Advances a deposit to the status of an event. The transaction that makes the deposit `CREDITED` also
 * credits it, once. Events may arrive in any order and repeatedly; the first final status is kept.
 *
 * Throws RejectedEvent if the address is unassigned or has another currency. Also throws it if address, tag,
 * currency or amount differ from an earlier event, if the other final status stands, or if the event was
 * refused (see findOutcome). Throws ConditionFailed if another event has meanwhile written the deposit, the
 * user's count of deposits or the wallet.
 */
export async function updateDeposit(update: DepositUpdate, record: EventRecord): Promise<Result> {
  const id = depositId(update)
  // The deposit tells which events took effect, but only the record of their key which ones were refused.
  const [known] = await Promise.all([readDeposit(id), findOutcome(record)])
  return known === undefined ? addDeposit(id, update) : advanceDeposit(known, update)
}

async function addDeposit(id: string, update: DepositUpdate): Promise<Result> {
  const { network, address, tag, currency } = update
  const stored = await readAddress(addressDigest({ network, address, tag }))
  const userId = stored?.user_id
  if (stored === undefined || userId === undefined) throw new RejectedEvent('unknown_address')
  if (stored.currency !== currency) throw new RejectedEvent('wrong_currency')
  const count = await readDepositCount(userId, { consistent: true })
  const createdAt = Math.max(update.bookedAt, count.lastAt)
  const deposit: Deposit = {
    id,
    currency,
    currency_network: network,
    amount: update.amount,
    address: stored.address,
    tag: stored.tag ?? null,
    txid: update.txid,
    output_index: update.outputIndex,
    confirmations: update.confirmations,
    required_confirmations: stored.required_confirmations,
    status: update.status,
    created_at: createdAt,
    occurred_at: update.occurredAt,
    credited_at: null,
    userId,
    applied: addApplied(undefined, update.eventId),
    version: 1,
    ordinal: countDeposits(count) + 1,
    currencyOrdinal: countDeposits(count, currency) + 1,
  }
  return writeDeposit(deposit, update, [putDepositCount(count, currency, createdAt)])
}

async function advanceDeposit(before: Deposit, update: DepositUpdate): Promise<Result> {
  const { currency_network: network, address, tag } = before
  const same =
    addressDigest({ network, address, tag: tag ?? undefined }) === addressDigest(update) &&
    before.currency === update.currency &&
    before.amount.eq(update.amount)
  if (!same)
    throw new RejectedEvent('conflicting_content', 'address, currency and amount of a deposit may not change')
  if (hasApplied(before.applied, update.eventId)) return resultOf(before, 'applied')
  if (isFinal(before.status) && isFinal(update.status) && before.status !== update.status)
    throw new RejectedEvent('contradicts_final_status')
  const status = laterStatus(before.status, update.status)
  const confirmations = laterConfirmations(before, update)
  const occurred_at = Math.min(before.occurred_at, update.occurredAt)
  const advances = status !== before.status || confirmations !== before.confirmations
  const isEarlier = occurred_at !== before.occurred_at
  const outcome =
    advances || (isEarlier && isSameState(before, update)) ? 'applied' : lateOutcome(before, update)
  if (!advances && !isEarlier) return resultOf(before, outcome)
  const applied = outcome === 'applied' ? addApplied(before.applied, update.eventId) : before.applied
  const version = before.version + 1
  const deposit = { ...before, version, status, confirmations, occurred_at, applied }
  const written = await writeDeposit(deposit, update, [])
  return { ...written, outcome }
}

/** What became of an event about a deposit: the deposit's user, id and status. */
const resultOf = ({ userId, id, status }: Deposit, outcome: Outcome): Result => ({
  outcome,
  userId,
  subject: { id, status },
})

/** Whether an event says of a deposit what is stored. The confirmations of a failed one do not count. */
const isSameState = (before: Deposit, { status, confirmations }: DepositUpdate): boolean =>
  status === before.status && (status === 'FAILED' || confirmations === before.confirmations)

/** The outcome of an event that changes neither status nor confirmations. */
const lateOutcome = (before: Deposit, update: DepositUpdate): Outcome =>
  isSameState(before, update) ? 'duplicate' : 'overtaken'

const statusRanks: Record<DepositStatus, number> = { PENDING: 0, CONFIRMING: 1, CREDITED: 2, FAILED: 2 }

/**
 * Returns the status of higher rank, or `before` if the ranks are equal. So the first final status is never
 * replaced.
 */
const laterStatus = (before: DepositStatus, next: DepositStatus): DepositStatus =>
  statusRanks[next] > statusRanks[before] ? next : before

const isFinal = (status: DepositStatus): boolean => status === 'CREDITED' || status === 'FAILED'

/** The most confirmations that were reported; of a failed deposit, those with which it failed. */
function laterConfirmations(before: Deposit, update: DepositUpdate): number {
  if (before.status === 'FAILED') return before.confirmations
  if (update.status === 'FAILED') return update.confirmations
  return Math.max(before.confirmations, update.confirmations)
}

/** Writes a deposit. If it has just become `CREDITED`, credits its amount in the same transaction. */
async function writeDeposit(
  deposit: Deposit,
  { network, outputIndex, bookedAt: at, occurredAt }: DepositUpdate,
  others: Write[],
): Promise<Result> {
  if (deposit.status !== 'CREDITED' || deposit.credited_at !== null) {
    await transact([...others, ...putDeposit(deposit)])
    return resultOf(deposit, 'applied')
  }
  const { userId, currency, amount, txid } = deposit
  const reference = `${network}:${txid}:${outputIndex}`
  const credit: Posting = { kind: 'post', type: 'DEPOSIT', currency, amount, reference }
  const { outcome } = await postTransaction({
    at,
    occurredAt,
    userId,
    wallets: [{ wallet: 'asset', movement: credit }],
    alongside: (bookedAt) => [
      ...others,
      ...putDeposit({ ...deposit, credited_at: Math.max(bookedAt, deposit.created_at) }),
    ],
  })
  return resultOf(deposit, outcome)
}

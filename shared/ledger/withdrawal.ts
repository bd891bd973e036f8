import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { readItem } from '../db/read.ts'
import { Decimal, toNumberValue } from '../db/decimal.ts'
import { Integer } from '../db/table.ts'
import { ConditionFailed, putVersioned, type Write } from '../db/write.ts'
import { applyOnce, type EventRecord, type Outcome } from '../events/event-record.ts'
import { RejectedEvent } from '../events/rejected-event.ts'
import { requireUser } from '../users/user.ts'
import { postTransaction } from './post-transaction.ts'
import type { Movement } from './bill.ts'

export const WithdrawalStatus = v.picklist(['requested', 'settled', 'cancelled'])
export type WithdrawalStatus = v.InferOutput<typeof WithdrawalStatus>

const WithdrawalItem = v.object({
  withdrawalId: v.string(),
  userId: Integer,
  currency: v.string(),
  amount: Decimal,
  status: WithdrawalStatus,
})
type Withdrawal = v.InferOutput<typeof WithdrawalItem>

/**
 * Changes a withdrawal's status as an event of the instant `at` (epoch milliseconds) says. `settled` and
 * `cancelled` are final: the first of them stands. A cancellation that comes before the request makes the
 * request void. A settlement that comes before it waits for it; after its minute, it debits the balance, with
 * the outcome `settled_without_request`.
 *
 * Throws RejectedEvent if user, currency or amount differ from an earlier event, if the other final status
 * stands, if balance or hold are insufficient, or if the user is not registered. Throws ConditionFailed if
 * the withdrawal or the wallet changed meanwhile.
 */
export async function updateWithdrawal(next: Withdrawal, record: EventRecord, at: number): Promise<Outcome> {
  const before = await readWithdrawal(next.withdrawalId)
  try {
    return await advance(next, before, record, at)
  } catch (error) {
    // If another event has meanwhile changed this withdrawal, this event must be tried again.
    const isStale = error instanceof RejectedEvent && (await hasMoved(next.withdrawalId, before))
    throw isStale ? new ConditionFailed() : error
  }
}

const hasMoved = async (withdrawalId: string, before: Withdrawal | undefined): Promise<boolean> =>
  (await readWithdrawal(withdrawalId))?.status !== before?.status

async function advance(
  next: Withdrawal,
  before: Withdrawal | undefined,
  record: EventRecord,
  occurredAt: number,
): Promise<Outcome> {
  if (before !== undefined && !isSame(next, before)) {
    throw new RejectedEvent(
      'conflicting_content',
      'user_id, currency and amount of a withdrawal may not change',
    )
  }
  const isFinal = before !== undefined && before.status !== 'requested'
  if (isFinal && next.status !== 'requested' && next.status !== before.status)
    throw new RejectedEvent('contradicts_final_status')
  if (isFinal || (before !== undefined && next.status === 'requested')) return applyOnce(record, [])
  const isUnrequested = before === undefined && next.status === 'settled'
  // The request may be on its way, or the id be spelt in another way than in the request.
  if (isUnrequested && !record.delivery.hasWaited)
    throw new RejectedEvent('insufficient_hold', 'the withdrawal is not requested')
  const movement = movementOf(next, before)
  const put = putWithdrawal(next, before)
  if (movement === undefined) return applyOnce(record, [requireUser(next.userId), put])
  const wallets = [{ wallet: 'asset' as const, movement }]
  const outcome = await postTransaction({
    record,
    occurredAt,
    userId: next.userId,
    wallets,
    alongside: () => [put],
  })
  return isUnrequested && outcome === 'applied' ? 'settled_without_request' : outcome
}

const isSame = (next: Withdrawal, before: Withdrawal): boolean =>
  next.userId === before.userId && next.currency === before.currency && next.amount.eq(before.amount)

/** The wallet movement for a withdrawal's new status; undefined if `cancelled` comes before `requested`. */
function movementOf(
  { withdrawalId: reference, currency, amount, status }: Withdrawal,
  before: Withdrawal | undefined,
): Movement | undefined {
  switch (status) {
    case 'requested':
      return { kind: 'hold', currency, amount }
    case 'settled':
      return { kind: 'post', type: 'WITHDRAWAL', currency, amount, reference, fromHold: before !== undefined }
    case 'cancelled':
      return before && { kind: 'release', currency, amount }
  }
}

const withdrawalKeys = itemType({
  pk: 'WD#{withdrawalId}',
  sk: 'WITHDRAWAL',
  holds: 'a withdrawal: its user, currency, amount and status',
  found: 'by withdrawal_id',
})

/** Reads a withdrawal with a strongly consistent read; undefined before its first event. */
async function readWithdrawal(withdrawalId: string): Promise<Withdrawal | undefined> {
  const item = await readItem(withdrawalKeys.key({ withdrawalId }), { consistent: true })
  return item && v.parse(WithdrawalItem, item)
}

/** The write that stores a withdrawal. It fails if the stored withdrawal no longer equals `before`. */
const putWithdrawal = (next: Withdrawal, before: Withdrawal | undefined): Write => {
  const version = before === undefined ? 0 : 1
  const key = withdrawalKeys.key({ withdrawalId: next.withdrawalId })
  return putVersioned({ ...key, ...next, amount: toNumberValue(next.amount), version: version + 1 }, version)
}

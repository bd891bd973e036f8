import { ConditionFailed } from '../db/write.ts'
import { requireUser } from '../users/user.ts'
import { applyOnce, type EventRecord, type Outcome } from '../events/event-record.ts'
import { RejectedEvent } from '../events/rejected-event.ts'
import { postTransaction } from './post-transaction.ts'
import type { Movement } from './movement.ts'
import { putWithdrawal, readWithdrawal, type Withdrawal } from './withdrawal.ts'

/** A withdrawal has at most two steps, so that it can move under an update but twice. */
const attempts = 4

/**
 * Brings a withdrawal to the status that an event tells of. The first of settled and cancelled to arrive stands, even where
 * it arrives before the request: settled then pays out of the balance at once, cancelled makes the request void.
 *
 * Throws Refused where the event names another user, currency or amount than before, or the balance does not suffice;
 * TooEarly where the user is not registered.
 */
export async function updateWithdrawal(next: Withdrawal, record: EventRecord): Promise<Outcome> {
  for (let attempt = 1; ; attempt += 1) {
    const before = await readWithdrawal(next.withdrawalId)
    try {
      return await step(next, before, record)
    } catch (error) {
      if (attempt === attempts || !(await cameBetween(error, before, next))) throw error
    }
  }
}

/** Whether a failure is due to another status of the same withdrawal that came in between. */
async function cameBetween(
  error: unknown,
  before: Withdrawal | undefined,
  { withdrawalId }: Withdrawal,
): Promise<boolean> {
  if (error instanceof ConditionFailed) return true
  // What seemed to be missing may have been set aside, or given back, by that other status.
  return error instanceof RejectedEvent && (await readWithdrawal(withdrawalId))?.status !== before?.status
}

async function step(next: Withdrawal, before: Withdrawal | undefined, record: EventRecord): Promise<Outcome> {
  if (before !== undefined && !isSame(next, before)) {
    throw new RejectedEvent(
      'conflicting_content',
      'user_id, currency and amount of a withdrawal may not change',
    )
  }
  if (before !== undefined && (before.status !== 'requested' || next.status === 'requested')) {
    return applyOnce(record, [])
  }
  const movements = movementsOf(next, before)
  const put = putWithdrawal(next, before)
  if (movements.length === 0) return applyVoid(next, record, put)
  return postTransaction({
    record,
    wallets: [{ id: { userId: next.userId, wallet: 'asset' }, movements }],
    alongside: () => [put],
  })
}

const isSame = (next: Withdrawal, before: Withdrawal): boolean =>
  next.userId === before.userId && next.currency === before.currency && next.amount.eq(before.amount)

function movementsOf(
  { withdrawalId, currency, amount, status }: Withdrawal,
  before: Withdrawal | undefined,
): Movement[] {
  switch (status) {
    case 'requested':
      return [{ kind: 'hold', currency, amount }]
    case 'settled':
      return [
        {
          kind: 'post',
          type: 'WITHDRAWAL',
          currency,
          amount,
          reference: withdrawalId,
          fromHold: before !== undefined,
        },
      ]
    case 'cancelled':
      return before === undefined ? [] : [{ kind: 'release', currency, amount }]
  }
}

/** Cancelled before it was requested: no money moves, now or when the request arrives. */
async function applyVoid(
  { userId }: Withdrawal,
  record: EventRecord,
  put: ReturnType<typeof putWithdrawal>,
): Promise<Outcome> {
  return applyOnce(record, [requireUser(userId), put])
}

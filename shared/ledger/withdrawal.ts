import * as v from 'valibot'
import { ConditionFailed } from '../db/write.ts'
import { applyOnce, type EventRecord } from '../events/event-record.ts'
import type { Result } from '../events/outcome.ts'
import { RejectedEvent } from '../events/rejected-event.ts'
import { type Big, zero } from '../money.ts'
import type { Movement } from './bill.ts'
import { postTransaction } from './post-transaction.ts'
import {
  countWithdrawals,
  listWithdrawal,
  putWithdrawal,
  readWithdrawal,
  type Withdrawal,
} from './withdrawal-record.ts'

/** The status of a withdrawal in its events. */
export const EventStatus = v.picklist(['requested', 'settled', 'cancelled'])

const statuses = { requested: 'REQUESTED', settled: 'SETTLED', cancelled: 'CANCELLED' } as const

/** The data of an event about a withdrawal. */
export interface WithdrawalUpdate {
  id: string
  userId: number
  currency: string
  amount: Big
  status: v.InferOutput<typeof EventStatus>
  /** Instant that the event states, epoch milliseconds. */
  at: number
  /** The amount that was paid out, if the withdrawal is settled. */
  settledAmount: Big
  /** The fee beside it; zero if there is none. */
  fee: Big
}

/**
 * Changes a withdrawal's status as an event says. `settled` and
 * `cancelled` are final: the first of them stands. A cancellation that comes before the request makes the
 * request void. A settlement that comes before it waits for it; after its minute, it debits the balance, with
 * the outcome `settled_without_request`.
 *
 * Throws RejectedEvent if user, currency or amount differ from an earlier event, if the other final status
 * stands, if balance or hold are insufficient, or if the user is not registered. Throws ConditionFailed if
 * the withdrawal or the wallet changed meanwhile.
 */
export async function updateWithdrawal(update: WithdrawalUpdate, record: EventRecord): Promise<Result> {
  const before = await readWithdrawal(update.id)
  try {
    const result = await advance(update, before, record)
    // The first event lists the withdrawal. If it died before that, it does so when it comes again: from its
    // queue, from the archive after a restore, or from its sender.
    if (before === undefined || before.openedAs === statuses[update.status]) {
      const stored = await readWithdrawal(update.id)
      if (stored !== undefined) await listWithdrawal(stored)
    }
    return result
  } catch (error) {
    // If another event has meanwhile changed this withdrawal, this event must be tried again.
    const isStale = error instanceof RejectedEvent && (await hasMoved(update.id, before))
    throw isStale ? new ConditionFailed() : error
  }
}

const hasMoved = async (id: string, before: Withdrawal | undefined): Promise<boolean> =>
  (await readWithdrawal(id))?.status !== before?.status

async function advance(
  update: WithdrawalUpdate,
  before: Withdrawal | undefined,
  event: EventRecord,
): Promise<Result> {
  const { id, userId, currency, amount, at: occurredAt } = update
  if (before !== undefined && !isSame(update, before)) {
    throw new RejectedEvent(
      'conflicting_content',
      'user_id, currency and amount of a withdrawal may not change',
    )
  }
  const status = statuses[update.status]
  const isFinal = before !== undefined && before.status !== 'REQUESTED'
  if (isFinal && status !== 'REQUESTED' && status !== before.status)
    throw new RejectedEvent('contradicts_final_status')
  const record = { ...event, subject: { id, status: isFinal ? before.status : status } }
  // A request that comes after the end of its withdrawal is void.
  if (isFinal) return applyOnce(status === 'REQUESTED' ? { ...record, effect: 'overtaken' } : record, [])
  if (before !== undefined && status === 'REQUESTED') return applyOnce(record, [])
  const isUnrequested = before === undefined && status === 'SETTLED'
  // The request may be on its way, or the id be spelt in another way than in the request.
  if (isUnrequested && !record.delivery.hasWaited)
    throw new RejectedEvent('insufficient_hold', 'the withdrawal is not requested')
  const movements = movementsOf(update, before)
  return postTransaction({
    record: isUnrequested ? { ...record, effect: 'settled_without_request' } : record,
    occurredAt,
    userId,
    wallets: movements.map((movement) => ({ wallet: 'asset', movement })),
    alongside: (bookedAt, [wallet]) => {
      const first = before ?? {
        id,
        userId,
        currency,
        amount,
        created_at: bookedAt,
        occurred_at: occurredAt,
        openedAs: status,
        version: 0,
        ordinal: wallet === undefined ? 0 : countWithdrawals(wallet),
        currencyOrdinal: wallet === undefined ? 0 : countWithdrawals(wallet, currency),
      }
      return [putWithdrawal({ ...first, ...endOf(update, bookedAt), status, version: first.version + 1 })]
    },
  })
}

const isSame = (update: WithdrawalUpdate, before: Withdrawal): boolean =>
  update.userId === before.userId && update.currency === before.currency && update.amount.eq(before.amount)

/** When a withdrawal was settled, and how; nothing of that if it is requested or cancelled. */
const endOf = ({ status, settledAmount, fee }: WithdrawalUpdate, bookedAt: number) =>
  status === 'settled'
    ? { settled_at: bookedAt, settled_amount: settledAmount, fee }
    : { settled_at: null, settled_amount: null, fee: null }

/** The movements of a withdrawal's new status. The first event of a withdrawal counts it. */
function movementsOf(update: WithdrawalUpdate, before: Withdrawal | undefined): Movement[] {
  const { id: reference, currency, amount, status, settledAmount, fee } = update
  const opening: Movement[] = before === undefined ? [{ kind: 'open withdrawal', currency }] : []
  if (status === 'requested') return [{ kind: 'hold', currency, amount }, ...opening]
  if (status === 'cancelled') return before === undefined ? opening : [{ kind: 'release', currency, amount }]
  const fromHold = before !== undefined
  const debit = { kind: 'post', currency, reference, fromHold } as const
  const rest = amount.minus(settledAmount).minus(fee)
  return [
    { ...debit, type: 'WITHDRAWAL', amount: settledAmount },
    ...(fee.gt(zero) ? [{ ...debit, type: 'WITHDRAWAL_FEE', amount: fee } as const] : []),
    ...(fromHold && rest.gt(zero) ? [{ kind: 'release', currency, amount: rest } as const] : []),
    ...opening,
  ]
}

import * as v from 'valibot'
import { BusinessKey, CurrencyCode, Instant, maybe, membersOf, UserId } from '../../shared/fields.ts'
import { intake } from '../../shared/events/intake.ts'
import { EventStatus, updateWithdrawal } from '../../shared/ledger/withdrawal.ts'
import { Amount, type Big, zero } from '../../shared/money.ts'

/** How much of a withdrawal is paid out: all but the fee, unless the event says so. */
const settledOf = ({
  amount,
  settled_amount,
  fee,
}: {
  amount: Big
  settled_amount?: Big | undefined
  fee?: Big | undefined
}): Big => settled_amount ?? amount.minus(fee ?? zero)

/**
 * Moves the money of a withdrawal. `requested` moves it from the balance to the hold, `settled` out of the
 * wallet, and `cancelled` back to the balance. `settled` may say how much was paid out (`settled_amount`) and
 * which `fee` was taken; the rest of the amount goes back to the balance. A settlement without a request
 * waits a minute for it, is then taken from the balance, and raises an alarm. `withdrawal_id` is compared
 * byte by byte: `7` and `07` are two withdrawals, of which one would be settled without a request.
 */
export const handler = intake({
  detailType: 'withdrawal.updated',
  detail: v.pipe(
    membersOf({
      withdrawal_id: BusinessKey,
      user_id: UserId,
      currency: CurrencyCode,
      amount: Amount,
      status: EventStatus,
      at: Instant,
      settled_amount: maybe(Amount),
      fee: maybe(Amount),
    }),
    v.forward(
      v.check(
        ({ status, settled_amount }) => status === 'settled' || settled_amount === undefined,
        'may only come with the status settled',
      ),
      ['settled_amount'],
    ),
    v.forward(
      v.check(
        ({ status, fee }) => status === 'settled' || fee === undefined,
        'may only come with the status settled',
      ),
      ['fee'],
    ),
    v.forward(
      v.check(
        (detail) =>
          settledOf(detail).gt(zero) &&
          settledOf(detail)
            .plus(detail.fee ?? zero)
            .lte(detail.amount),
        'must be at most the amount, together with settled_amount, and leave something to settle',
      ),
      ['fee'],
    ),
  ),
  // A withdrawal has an event for each status, so the key that identifies an event includes the status.
  key: ({ withdrawal_id, status }) => `${withdrawal_id}#${status}`,
  rejections: [
    'unknown_user',
    'contradicts_final_status',
    'insufficient_balance',
    'insufficient_hold',
    'balance_too_large',
    'too_many_currencies',
  ],
  apply: ({ withdrawal_id: id, user_id: userId, currency, amount, status, at, ...settled }, record) =>
    updateWithdrawal(
      {
        id,
        userId,
        currency,
        amount,
        status,
        at,
        settledAmount: settledOf({ amount, ...settled }),
        fee: settled.fee ?? zero,
      },
      record,
    ),
})

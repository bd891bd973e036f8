import * as v from 'valibot'
import { BusinessKey, CurrencyCode, Instant, maybe, membersOf, UserId } from '../../shared/fields.ts'
import { intake } from '../../shared/events/intake.ts'
import { EventStatus, updateWithdrawal } from '../../shared/ledger/withdrawal.ts'
import { Amount, zero } from '../../shared/money.ts'

const Fields = membersOf({
  withdrawal_id: BusinessKey,
  user_id: UserId,
  currency: CurrencyCode,
  amount: Amount,
  status: EventStatus,
  at: Instant,
  settled_amount: maybe(Amount),
  fee: maybe(Amount),
})
type Fields = v.InferOutput<typeof Fields>

const onlySettled = (name: 'settled_amount' | 'fee') =>
  v.forward(
    v.check<Fields, string>(
      (detail) => detail.status === 'settled' || detail[name] === undefined,
      'may only come with the status settled',
    ),
    [name],
  )

/** How much of a withdrawal is paid out, and the fee beside it: all but the fee, unless the event says so. */
function settlementOf({
  amount,
  settled_amount,
  fee = zero,
}: Pick<Fields, 'amount' | 'settled_amount' | 'fee'>) {
  return { settledAmount: settled_amount ?? amount.minus(fee), fee }
}

/** Whether the parts of a withdrawal are no more than its amount, and something is paid out. */
function fitsAmount(detail: Fields): boolean {
  const { settledAmount, fee } = settlementOf(detail)
  return settledAmount.gt(zero) && settledAmount.plus(fee).lte(detail.amount)
}

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
    Fields,
    onlySettled('settled_amount'),
    onlySettled('fee'),
    v.forward(
      v.check(
        fitsAmount,
        'must be at most the amount, together with settled_amount, and leave something to settle',
      ),
      ['fee'],
    ),
    // So a settlement that states the default has the same content as one that leaves it out.
    v.transform((detail) =>
      detail.status === 'settled'
        ? { ...detail, settled_amount: settlementOf(detail).settledAmount }
        : detail,
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
      { id, userId, currency, amount, status, at, ...settlementOf({ amount, ...settled }) },
      record,
    ),
})

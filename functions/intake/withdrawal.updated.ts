import { BusinessKey, CurrencyCode, Instant, membersOf, UserId } from '../../shared/fields.ts'
import { intake } from '../../shared/events/intake.ts'
import { updateWithdrawal, WithdrawalStatus } from '../../shared/ledger/withdrawal.ts'
import { Amount } from '../../shared/money.ts'

/**
 * Moves the money of a withdrawal. `requested` moves it from the balance to the hold, `settled` out of the
 * wallet, and `cancelled` back to the balance. A settlement without a request waits a minute for it, is then
 * taken from the balance, and raises an alarm. `withdrawal_id` is compared byte by byte: `7` and `07` are two
 * withdrawals, of which one would be settled without a request.
 */
export const handler = intake({
  detailType: 'withdrawal.updated',
  detail: membersOf({
    withdrawal_id: BusinessKey,
    user_id: UserId,
    currency: CurrencyCode,
    amount: Amount,
    status: WithdrawalStatus,
    at: Instant,
  }),
  // A withdrawal has an event for each status, so the key that identifies an event includes the status.
  key: ({ withdrawal_id, status }) => `${withdrawal_id}#${status}`,
  rejections: [
    'unknown_user',
    'contradicts_final_status',
    'insufficient_balance',
    'insufficient_hold',
    'balance_too_large',
  ],
  apply: ({ withdrawal_id, user_id, currency, amount, status, at }, record) =>
    updateWithdrawal({ withdrawalId: withdrawal_id, userId: user_id, currency, amount, status }, record, at),
})

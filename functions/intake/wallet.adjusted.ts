import * as v from 'valibot'
import { BusinessKey, CurrencyCode, Instant, membersOf, PlainText, UserId } from '../../shared/fields.ts'
import { intake } from '../../shared/events/intake.ts'
import { postTransaction } from '../../shared/ledger/post-transaction.ts'
import { Direction } from '../../shared/ledger/bill-types.ts'
import { WalletName } from '../../shared/ledger/wallet.ts'
import { Amount } from '../../shared/money.ts'

/** Corrects a wallet by hand: a credit or a debit, with the reason on its bill. */
export const handler = intake({
  detailType: 'wallet.adjusted',
  detail: membersOf({
    adjustment_id: BusinessKey,
    user_id: UserId,
    wallet: WalletName,
    currency: CurrencyCode,
    amount: Amount,
    direction: Direction,
    reason: v.pipe(
      PlainText(500),
      v.check((reason) => reason.trim() !== '', 'must not be empty'),
    ),
    at: Instant,
  }),
  key: ({ adjustment_id }) => adjustment_id,
  rejections: ['unknown_user', 'insufficient_balance', 'balance_too_large', 'too_many_currencies'],
  apply({ adjustment_id, user_id, wallet, currency, amount, direction, reason, at }, record) {
    const type = direction === 1 ? 'ADJUSTMENT_CREDIT' : 'ADJUSTMENT_DEBIT'
    const money = { currency, amount, reference: adjustment_id, remark: reason }
    const wallets = [{ wallet, movement: { kind: 'post', type, ...money } as const }]
    return postTransaction({ record, occurredAt: at, userId: user_id, wallets })
  },
})

import * as v from 'valibot'
import { BusinessKey, CurrencyCode, Instant, UserId } from '../../shared/events/fields.ts'
import { intake } from '../../shared/events/intake.ts'
import { Direction } from '../../shared/ledger/bill-types.ts'
import { postTransaction } from '../../shared/ledger/post-transaction.ts'
import { WalletName } from '../../shared/ledger/wallet.ts'
import { Amount } from '../../shared/money.ts'

/** Corrects a wallet by hand: a credit or a debit, with the reason on its bill. */
export const handler = intake({
  detailType: 'wallet.adjusted',
  detail: v.object({
    adjustment_id: BusinessKey,
    user_id: UserId,
    wallet: WalletName,
    currency: CurrencyCode,
    amount: Amount,
    direction: Direction,
    reason: v.pipe(v.string(), v.maxLength(500, 'must be at most 500 characters')),
    at: Instant,
  }),
  key: ({ adjustment_id }) => adjustment_id,
  rejections: ['unknown_user', 'insufficient_balance', 'balance_too_large'],
  apply: ({ adjustment_id, user_id, wallet, currency, amount, direction, reason }, record) =>
    postTransaction({
      record,
      wallets: [
        {
          id: { userId: user_id, wallet },
          movements: [
            {
              kind: 'post',
              type: direction === 1 ? 'ADJUSTMENT_CREDIT' : 'ADJUSTMENT_DEBIT',
              currency,
              amount,
              reference: adjustment_id,
              remark: reason,
            },
          ],
        },
      ],
    }),
})

import * as v from 'valibot'
import { BusinessKey, CurrencyCode, Instant, PlainText, UserId } from '../../shared/fields.ts'
import { intake } from '../../shared/events/intake.ts'
import { postTransaction } from '../../shared/ledger/post-transaction.ts'
import { Direction } from '../../shared/ledger/bill-types.ts'
import { type Posting } from '../../shared/ledger/bill.ts'
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
    reason: v.pipe(
      PlainText(500),
      v.check((reason) => reason.trim() !== '', 'must not be empty'),
    ),
    at: Instant,
  }),
  key: ({ adjustment_id }) => adjustment_id,
  rejections: ['unknown_user', 'insufficient_balance', 'balance_too_large', 'too_many_currencies'],
  apply({ adjustment_id, user_id, wallet, currency, amount, direction, reason }, record) {
    const id = { userId: user_id, wallet }
    const type = direction === 1 ? 'ADJUSTMENT_CREDIT' : 'ADJUSTMENT_DEBIT'
    const posting: Posting = {
      kind: 'post',
      type,
      currency,
      amount,
      reference: adjustment_id,
      remark: reason,
    }
    return postTransaction({ record, wallets: [{ id, movement: posting }] })
  },
})

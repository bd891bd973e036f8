import * as v from 'valibot'
import { BusinessKey, CurrencyCode, Instant, membersOf, UserId } from '../../shared/fields.ts'
import { intake } from '../../shared/events/intake.ts'
import { postTransaction } from '../../shared/ledger/post-transaction.ts'
import { WalletName } from '../../shared/ledger/wallet.ts'
import { Amount } from '../../shared/money.ts'

/** Moves money between the two wallets of a user, with a bill in each, in one transaction. */
export const handler = intake({
  detailType: 'wallet.transferred',
  detail: v.pipe(
    membersOf({
      transfer_id: BusinessKey,
      user_id: UserId,
      from: WalletName,
      to: WalletName,
      currency: CurrencyCode,
      amount: Amount,
      at: Instant,
    }),
    v.forward(
      v.check(({ from, to }) => from !== to, 'must be the other wallet'),
      ['to'],
    ),
  ),
  key: ({ transfer_id }) => transfer_id,
  rejections: ['unknown_user', 'insufficient_balance', 'balance_too_large', 'too_many_currencies'],
  apply({ transfer_id, user_id, from, to, currency, amount, at }, record) {
    const posting = { kind: 'post', currency, amount, reference: transfer_id } as const
    return postTransaction({
      record,
      occurredAt: at,
      userId: user_id,
      wallets: [
        { wallet: from, movement: { ...posting, type: 'TRANSFER_OUT' } },
        { wallet: to, movement: { ...posting, type: 'TRANSFER_IN' } },
      ],
    })
  },
})

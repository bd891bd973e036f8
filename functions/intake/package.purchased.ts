import * as v from 'valibot'
import { purchasePackage } from '../../shared/community/purchase.ts'
import { intake } from '../../shared/events/intake.ts'
import { BusinessKey, CurrencyCode, Instant, maybe, UserId } from '../../shared/fields.ts'
import { WalletName } from '../../shared/ledger/wallet.ts'
import { Amount } from '../../shared/money.ts'

/** Counts a package purchase for the buyer and for all their ancestors in the referral tree. */
export const handler = intake({
  detailType: 'package.purchased',
  detail: v.object({
    purchase_id: BusinessKey,
    user_id: UserId,
    /** Price of the package in the reward currency. */
    amount: Amount,
    at: Instant,
    /** The wallet and the amount to debit if the purchase is paid from a wallet. */
    payment: maybe(v.object({ wallet: WalletName, currency: CurrencyCode, amount: Amount })),
  }),
  key: ({ purchase_id }) => purchase_id,
  rejections: ['unknown_user', 'insufficient_balance'],
  apply: ({ purchase_id, user_id, amount, payment }, record) =>
    purchasePackage({ purchaseId: purchase_id, userId: user_id, amount, payment }, record),
})

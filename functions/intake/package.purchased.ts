import { PackagePurchase, purchasePackage } from '../../shared/community/purchase-package.ts'
import { intake } from '../../shared/events/intake.ts'

/** Counts a package purchase for the buyer and for all their ancestors in the referral tree. */
export const handler = intake({
  detailType: 'package.purchased',
  detail: PackagePurchase,
  key: ({ purchase_id }) => purchase_id,
  rejections: ['unknown_user', 'insufficient_balance'],
  apply: purchasePackage,
})

import { PackagePurchase, purchasePackage } from '../../shared/community/purchase-package.ts'
import { intake } from '../../shared/events/intake.ts'

/** Counts a package that a user has bought, for them and for everyone above them. */
export const handler = intake({
  detailType: 'package.purchased',
  detail: PackagePurchase,
  key: ({ purchase_id }) => purchase_id,
  apply: purchasePackage,
})

import * as v from 'valibot'
import { applyOnce, type EventRecord, type Outcome } from '../events/event-record.ts'
import { BusinessKey, CurrencyCode, Instant, maybe, UserId } from '../events/fields.ts'
import { OutOfOrderEvent } from '../events/rejected-event.ts'
import { postTransaction } from '../ledger/post-transaction.ts'
import { WalletName } from '../ledger/wallet.ts'
import { Amount } from '../money.ts'
import { notifyTreeQueue } from './notify-tree-queue.ts'
import { putJournalEntry } from './journal.ts'
import { addPurchase } from './profile.ts'
import { readProfile } from './read-profile.ts'

/** `detail` of `package.purchased`. */
export const PackagePurchase = v.object({
  purchase_id: BusinessKey,
  user_id: UserId,
  /** In the reward currency. */
  amount: Amount,
  at: Instant,
  /** What it is paid with, where it is paid out of a wallet. */
  payment: maybe(v.object({ wallet: WalletName, currency: CurrencyCode, amount: Amount })),
})
export type PackagePurchase = v.InferOutput<typeof PackagePurchase>

/**
 * Counts a purchase, exactly once, and enters it into the journal of the buyer's tree, from where the ancestors' sums
 * follow. A payment is debited in the same transaction; Refused, nothing changed, where the wallet does not cover it.
 */
export async function purchasePackage(
  { purchase_id, user_id, amount, payment }: PackagePurchase,
  record: EventRecord,
): Promise<Outcome> {
  const buyer = await readProfile(user_id)
  if (buyer === undefined) throw new OutOfOrderEvent('unknown_user')
  const rises = buyer.depth > 0
  const writes = [
    addPurchase(user_id, amount),
    ...(rises ? [putJournalEntry(buyer.rootId, user_id, { amount })] : []),
  ]
  const outcome =
    payment === undefined
      ? await applyOnce(record, writes)
      : await postTransaction({
          record,
          wallets: [
            {
              id: { userId: user_id, wallet: payment.wallet },
              movements: [
                {
                  kind: 'post',
                  type: 'PACKAGE_PURCHASE',
                  currency: payment.currency,
                  amount: payment.amount,
                  reference: purchase_id,
                },
              ],
            },
          ],
          alongside: () => writes,
        })
  // Also for a duplicate: the function may have died before it told the queue the first time.
  if (rises) await notifyTreeQueue(buyer.rootId)
  return outcome
}

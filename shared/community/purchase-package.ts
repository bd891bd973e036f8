import * as v from 'valibot'
import { applyOnce, type EventRecord, type Outcome } from '../events/event-record.ts'
import { BusinessKey, CurrencyCode, Instant, maybe, UserId } from '../fields.ts'
import { OutOfOrderEvent } from '../events/rejected-event.ts'
import { type LedgerTransaction, postTransaction } from '../ledger/post-transaction.ts'
import { WalletName } from '../ledger/wallet.ts'
import { Amount } from '../money.ts'
import { addPurchase, readProfile } from './member.ts'
import { notifyTreeQueue, putJournalEntry } from './tree-journal.ts'

/** `detail` of `package.purchased`. */
export const PackagePurchase = v.object({
  purchase_id: BusinessKey,
  user_id: UserId,
  /** In the reward currency. */
  amount: Amount,
  at: Instant,
  /** The wallet and the amount to debit, for a purchase that is paid from a wallet. */
  payment: maybe(v.object({ wallet: WalletName, currency: CurrencyCode, amount: Amount })),
})
export type PackagePurchase = v.InferOutput<typeof PackagePurchase>

/**
 * Counts a purchase, exactly once: in the buyer's profile at once, and through the tree's journal in the sums
 * of all ancestors. A payment is debited in the same transaction; RejectedEvent, with nothing changed, when
 * the balance is too small. Throws OutOfOrderEvent for a user who is not registered.
 */
export async function purchasePackage(
  { purchase_id, user_id, amount, payment }: PackagePurchase,
  record: EventRecord,
): Promise<Outcome> {
  const buyer = await readProfile(user_id)
  if (buyer === undefined) throw new OutOfOrderEvent('unknown_user')
  const hasAncestors = buyer.depth > 0
  const writes = [
    addPurchase(user_id, amount),
    ...(hasAncestors ? [putJournalEntry(buyer.rootId, user_id, { amount })] : []),
  ]
  const outcome =
    payment === undefined
      ? await applyOnce(record, writes)
      : await postTransaction({
          record,
          wallets: [toDebit(user_id, purchase_id, payment)],
          alongside: () => writes,
        })
  if (hasAncestors) await notifyTreeQueue(buyer.rootId)
  return outcome
}

const toDebit = (
  userId: number,
  reference: string,
  { wallet, currency, amount }: NonNullable<PackagePurchase['payment']>,
): LedgerTransaction['wallets'][number] => ({
  id: { userId, wallet },
  movements: [{ kind: 'post', type: 'PACKAGE_PURCHASE', currency, amount, reference }],
})

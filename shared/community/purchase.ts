import { readItem } from '../db/read.ts'
import { applyOnce, type EventRecord, type Outcome } from '../events/event-record.ts'
import { OutOfOrderEvent } from '../events/rejected-event.ts'
import { type LedgerTransaction, postTransaction } from '../ledger/post-transaction.ts'
import type { WalletName } from '../ledger/wallet.ts'
import type { Big } from '../money.ts'
import { putJournalEntry } from './growth/journal.ts'
import { notifyTreeQueue } from './growth/queue.ts'
import { addPurchase, profileKey, toProfile } from './profile.ts'

/** A purchase of a package by a member. */
export interface PackagePurchase {
  purchaseId: string
  userId: number
  /** Price of the package in the reward currency. */
  amount: Big
  /** The wallet and the amount to debit if the purchase is paid from a wallet. */
  payment?: { wallet: WalletName; currency: string; amount: Big } | undefined
}

/**
 * Counts a package purchase exactly once: in the buyer's profile at once, and in the sums of all ancestors
 * through the tree's journal. A payment is debited in the same transaction; if the balance is too small,
 * throws RejectedEvent and changes nothing. Throws OutOfOrderEvent for a user who is not registered.
 */
export async function purchasePackage(
  { purchaseId, userId, amount, payment }: PackagePurchase,
  record: EventRecord,
): Promise<Outcome> {
  const stored = await readItem(profileKey(userId), { consistent: true })
  if (stored === undefined) throw new OutOfOrderEvent('unknown_user')
  const { depth, rootId } = toProfile(stored)
  const writes = (at: number) => [
    addPurchase(userId, amount),
    ...(depth === 0 ? [] : [putJournalEntry(rootId, userId, { amount }, at)]),
  ]
  const outcome =
    payment === undefined
      ? await applyOnce(record, writes)
      : await postTransaction({
          record,
          wallets: [toDebit(userId, purchaseId, payment)],
          alongside: writes,
        })
  if (depth > 0) await notifyTreeQueue(rootId)
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

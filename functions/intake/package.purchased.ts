import { putJournalEntry } from '../../shared/community/growth/journal.ts'
import { notifyTreeQueue } from '../../shared/community/growth/queue.ts'
import { addPurchase, readProfile } from '../../shared/community/profile.ts'
import { applyOnce, rejectUnlessKnown } from '../../shared/events/event-record.ts'
import { intake } from '../../shared/events/intake.ts'
import { RejectedEvent } from '../../shared/events/rejected-event.ts'
import { BusinessKey, CurrencyCode, Instant, maybe, membersOf, UserId } from '../../shared/fields.ts'
import type { Posting } from '../../shared/ledger/bill.ts'
import { postTransaction } from '../../shared/ledger/post-transaction.ts'
import { WalletName } from '../../shared/ledger/wallet.ts'
import { Amount } from '../../shared/money.ts'

/**
 * Counts a package purchase in the buyer's profile. If a wallet pays for it, the same transaction debits the
 * wallet. A worker adds the purchase to the sums of the buyer's ancestors later (see putJournalEntry).
 */
export const handler = intake({
  detailType: 'package.purchased',
  detail: membersOf({
    purchase_id: BusinessKey,
    user_id: UserId,
    /** Price of the package in the reward currency. */
    amount: Amount,
    at: Instant,
    /** The wallet and the amount to debit if the purchase is paid from a wallet. */
    payment: maybe(membersOf({ wallet: WalletName, currency: CurrencyCode, amount: Amount })),
  }),
  key: ({ purchase_id }) => purchase_id,
  rejections: ['unknown_user', 'insufficient_balance', 'balance_too_large'],
  async apply({ purchase_id: reference, user_id: userId, amount, at, payment }, record) {
    const buyer = await readProfile(userId)
    if (buyer === undefined) return rejectUnlessKnown(record, new RejectedEvent('unknown_user'))
    const { depth, rootId } = buyer
    const writes = [
      addPurchase(userId, amount),
      ...(depth === 0 ? [] : [putJournalEntry(rootId, userId, { amount })]),
    ]
    const debit = async ({ wallet, ...money }: NonNullable<typeof payment>) => {
      const movement: Posting = { kind: 'post', type: 'PACKAGE_PURCHASE', ...money, reference }
      return postTransaction({
        record,
        occurredAt: at,
        userId,
        wallets: [{ wallet, movement }],
        alongside: () => writes,
      })
    }
    const outcome = await (payment === undefined ? applyOnce(record, writes) : debit(payment))
    if (depth > 0) await notifyTreeQueue(rootId)
    return outcome
  },
})

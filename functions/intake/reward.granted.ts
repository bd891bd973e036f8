import { startOfDay } from '../../shared/dates.ts'
import { recordReward } from '../../shared/dashboard/sums.ts'
import { BusinessKey, CurrencyCode, EarningDay, membersOf, SpacedName, UserId } from '../../shared/fields.ts'
import { intake } from '../../shared/events/intake.ts'
import { postTransaction } from '../../shared/ledger/post-transaction.ts'
import type { Posting } from '../../shared/ledger/bill.ts'
import { Amount } from '../../shared/money.ts'

/** Credits a reward to the reward wallet and adds it to the dashboard's sums. */
export const handler = intake({
  detailType: 'reward.granted',
  detail: membersOf({
    reward_id: BusinessKey,
    user_id: UserId,
    reward_type: SpacedName(64),
    currency: CurrencyCode,
    amount: Amount,
    earned_on: EarningDay,
  }),
  key: ({ reward_id }) => reward_id,
  rejections: ['unknown_user', 'balance_too_large', 'too_many_currencies', 'too_many_reward_types'],
  async apply({ reward_id, user_id, reward_type, currency, amount, earned_on }, record) {
    const userId = user_id
    const reward = { userId, rewardType: reward_type, currency, amount, earnedOn: earned_on }
    const posting: Posting = { kind: 'post', type: 'REWARD', currency, amount, reference: reward_id }
    const wallets = [{ wallet: 'reward' as const, movement: posting }]
    // If another event has just added this type and currency, the transaction fails and `apply` runs again.
    const dashboardWrites = await recordReward(reward)
    // The event states no instant but a day.
    const occurredAt = startOfDay(earned_on)
    return postTransaction({ record, occurredAt, userId, wallets, alongside: () => dashboardWrites })
  },
})

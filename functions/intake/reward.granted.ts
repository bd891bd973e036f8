import * as v from 'valibot'
import { ConditionFailed } from '../../shared/db/write.ts'
import { recordReward } from '../../shared/dashboard/sums.ts'
import { BusinessKey, CurrencyCode, Day, PlainText, UserId } from '../../shared/fields.ts'
import { intake } from '../../shared/events/intake.ts'
import { postTransaction } from '../../shared/ledger/post-transaction.ts'
import type { Posting } from '../../shared/ledger/bill.ts'
import { Amount } from '../../shared/money.ts'
import { retry } from '../../shared/retry.ts'

/** Credits a reward to the reward wallet and adds it to the dashboard's sums. */
export const handler = intake({
  detailType: 'reward.granted',
  detail: v.object({
    reward_id: BusinessKey,
    user_id: UserId,
    reward_type: PlainText(64),
    currency: CurrencyCode,
    amount: Amount,
    earned_on: Day,
  }),
  key: ({ reward_id }) => reward_id,
  rejections: ['unknown_user', 'balance_too_large', 'too_many_currencies', 'too_many_reward_types'],
  async apply({ reward_id, user_id, reward_type, currency, amount, earned_on }, record) {
    const id = { userId: user_id, wallet: 'reward' } as const
    const reward = { userId: user_id, rewardType: reward_type, currency, amount, earnedOn: earned_on }
    const posting: Posting = { kind: 'post', type: 'REWARD', currency, amount, reference: reward_id }
    return retry(
      async () => {
        const dashboardWrites = await recordReward(reward)
        return postTransaction({
          record,
          wallets: [{ id, movement: posting }],
          alongside: () => dashboardWrites,
        })
      },
      // Another first reward of this type and currency was written first.
      (error) => error instanceof ConditionFailed,
    )
  },
})

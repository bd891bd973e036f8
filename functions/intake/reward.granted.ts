import * as v from 'valibot'
import { recordReward } from '../../shared/dashboard/record-events.ts'
import { BusinessKey, CurrencyCode, Day, UserId } from '../../shared/events/fields.ts'
import { intake } from '../../shared/events/intake.ts'
import { postTransaction } from '../../shared/ledger/post-transaction.ts'
import { Amount } from '../../shared/money.ts'

/** Credits a reward to the reward wallet, and counts it in the dashboard. */
export const handler = intake({
  detailType: 'reward.granted',
  detail: v.object({
    reward_id: BusinessKey,
    user_id: UserId,
    reward_type: v.pipe(
      v.string(),
      v.regex(/^[A-Za-z0-9._-]{1,64}$/, 'must be a code of 1 to 64 letters and digits'),
    ),
    currency: CurrencyCode,
    amount: Amount,
    earned_on: Day,
  }),
  key: ({ reward_id }) => reward_id,
  rejections: ['unknown_user', 'balance_too_large'],
  async apply({ reward_id, user_id, reward_type, currency, amount, earned_on }, record) {
    const counted = await recordReward({
      userId: user_id,
      rewardType: reward_type,
      currency,
      amount,
      earnedOn: earned_on,
    })
    return postTransaction({
      record,
      wallets: [
        {
          id: { userId: user_id, wallet: 'reward' },
          movements: [{ kind: 'post', type: 'REWARD', currency, amount, reference: reward_id }],
        },
      ],
      alongside: () => counted,
    })
  },
})

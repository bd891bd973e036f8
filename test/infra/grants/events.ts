import { randomUUID } from 'node:crypto'

/** Makes the detail of a `reward.granted` event of 1 USDT. */
export const grant = (userId: number) => ({
  reward_id: randomUUID(),
  user_id: userId,
  reward_type: 'TRAFFIC',
  currency: 'USDT',
  amount: '1',
  earned_on: new Date().toISOString().slice(0, 10),
})

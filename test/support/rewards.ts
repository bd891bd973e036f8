import { randomUUID } from 'node:crypto'
import { handler as rewardGranted } from '../../functions/intake/reward.granted.ts'
import { applyEvent } from './apply-event.ts'

/** Grants a user a reward, by default 1 USDT of the type `NODE` that was earned on 1 January 2026. */
export const grantReward = (userId: number, changes: object) =>
  applyEvent(rewardGranted, {
    reward_id: randomUUID(),
    user_id: userId,
    reward_type: 'NODE',
    currency: 'USDT',
    amount: '1',
    earned_on: '2026-01-01',
    ...changes,
  })

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { putEvents } from '../../support/put-event.ts'
import { call, eventually } from './call.ts'
import type { SignedIn } from './sign-in.ts'

/** Builds the `detail` of a `wallet.adjusted` that credits a user's asset wallet with USDT. */
export const credit = ({ userId }: Pick<SignedIn, 'userId'>, amount: string, overrides: object = {}) => ({
  adjustment_id: randomUUID(),
  user_id: userId,
  wallet: 'asset',
  currency: 'USDT',
  amount,
  direction: 1,
  reason: 'deployment test',
  at: Date.now(),
  ...overrides,
})

/** Waits until a user's asset wallet has exactly this balance and number of bills. */
export const expectWallet = ({ token }: SignedIn, balance: string, bills: number): Promise<void> =>
  eventually(async () => {
    const info = await call('/account/info', { token })
    assert.ok(info.text.includes(`"balance":${balance},`), `the balance is not ${balance}: ${info.text}`)
    const page = await call('/account/bills?current=1&size=1', { token })
    assert.ok(page.text.includes(`"total":${bills},`), `there are not ${bills} bills: ${page.text}`)
  })

/** Credits the user's wallet by event, and checks the exact balance and the bill over the API. */
export async function useWallet(user: SignedIn): Promise<void> {
  const amount = '0.100000000000000001'
  await putEvents('wallet.adjusted', [credit(user, amount)])
  await expectWallet(user, amount, 1)
}

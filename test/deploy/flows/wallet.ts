import assert from 'node:assert/strict'
import * as v from 'valibot'
import { adjustment } from '../../support/ledger.ts'
import { putEvents } from '../../support/put-event.ts'
import { call, eventually } from './call.ts'
import { ops } from './ops.ts'
import type { SignedIn } from './sign-in.ts'

const credit = ({ userId }: SignedIn, amount: string) =>
  adjustment(userId, { amount, reason: 'deployment test', at: Date.now() })

/** Waits until a wallet has this balance and number of bills. Default: the state after bookDuplicates. */
export const expectWallet = (
  { token }: SignedIn,
  balance = '15.100000000000000001',
  bills = 5,
): Promise<void> =>
  eventually(async () => {
    const info = await call('/account/info', { token })
    assert.ok(info.text.includes(`"balance":${balance},`), `the balance is not ${balance}: ${info.text}`)
    const page = await call('/account/bills?current=1&size=1', { token })
    assert.ok(page.text.includes(`"total":${bills},`), `there are not ${bills} bills: ${page.text}`)
  })

/** Credits the user's wallet by sending an event, and checks the exact balance and the bill over the API. */
export async function useWallet(user: SignedIn): Promise<void> {
  const amount = '0.100000000000000001'
  await putEvents('wallet.adjusted', [credit(user, amount)])
  await expectWallet(user, amount, 1)
}

/**
 * Sends four events for one wallet, one of them three times. Checks that each event takes effect exactly
 * once. Assumes that only useWallet has changed the wallet before.
 */
export async function bookDuplicates(user: SignedIn): Promise<void> {
  // Every subset of 1, 2, 4 and 8 has a different sum, so that the balance shows which events took effect.
  const details = ['1', '2', '4', '8'].map((amount) => credit(user, amount))
  const repeated = details.slice(0, 1)
  await putEvents('wallet.adjusted', [...repeated, ...details, ...repeated])
  await expectWallet(user)
}

const Shown = v.object({
  messages: v.array(v.object({ id: v.string(), reason: v.nullish(v.string()), body: v.string() })),
})

/** Sends an event that is refused, checks the reason in its one dead letter, and deletes the dead letter. */
export async function refuseEvent(user: SignedIn, target: string[]): Promise<void> {
  const refused = credit(user, '-1')
  await putEvents('wallet.adjusted', [refused])
  const letter = await eventually(async () => {
    const text = await ops([...target, 'dlq', 'show', 'wallet.adjusted', '--json'])
    const { messages } = v.parse(Shown, JSON.parse(text))
    const own = messages.filter(({ body }) => body.includes(refused.adjustment_id))
    assert.equal(own.length, 1, `the event left ${own.length} dead letters`)
    return own[0]
  })
  assert.match(letter?.reason ?? '', /^invalid_detail/, 'the dead letter has another reason')
  await ops([...target, 'dlq', 'drop', 'wallet.adjusted', '--message', letter?.id ?? '', '--yes'])
}

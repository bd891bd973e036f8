import assert from 'node:assert/strict'
import * as v from 'valibot'
import { putEvents } from '../../support/put-event.ts'
import { eventually } from './call.ts'
import { ops } from './ops.ts'
import type { SignedIn } from './sign-in.ts'
import { credit } from './wallet.ts'

const Shown = v.object({
  messages: v.array(v.object({ id: v.string(), reason: v.nullish(v.string()), body: v.string() })),
})

/** Sends an event that is refused, and checks that it leaves one dead letter with the reason. Drops it. */
export async function refuseEvent(user: SignedIn, target: string[]): Promise<void> {
  const refused = credit(user, '-1')
  await putEvents('wallet.adjusted', [refused])
  const letter = await eventually(async () => {
    const text = await ops([...target, 'dlq', 'show', 'wallet.adjusted', '--limit', '1000', '--json'])
    const { messages } = v.parse(Shown, JSON.parse(text))
    const own = messages.filter(({ body }) => body.includes(refused.adjustment_id))
    assert.equal(own.length, 1, `the event left ${own.length} dead letters`)
    return own[0]
  })
  assert.match(letter?.reason ?? '', /^invalid_detail/, 'the dead letter has another reason')
  await ops([...target, 'dlq', 'drop', 'wallet.adjusted', '--message', letter?.id ?? '', '--yes'])
}

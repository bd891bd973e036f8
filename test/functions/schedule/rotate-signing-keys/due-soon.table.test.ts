import { randomUUID } from 'node:crypto'
import { beforeEach, expect, it, vi } from 'vitest'
import { handler } from '../../../../functions/schedule/rotate-signing-keys.ts'
import { activeKey, keyIn, readKeySet } from '../../../../shared/keys/set.ts'
import { useOwnKeys } from '../../../support/own-keys.ts'

const { renew } = useOwnKeys()
const window = 86_400_000
const passTime = (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds)
const invoke = (event: object) =>
  handler(event, { awsRequestId: randomUUID(), getRemainingTimeInMillis: () => 60_000 })

/** Publishes a key, and passes time until its publish window ends in this many milliseconds. */
async function publish(left: number) {
  await invoke({})
  passTime(1)
  await invoke({ action: 'rotate' })
  const published = keyIn((await readKeySet()).keys, 'published') ?? expect.unreachable()
  vi.setSystemTime(published.published_at + window - left)
  return published
}

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], shouldAdvanceTime: true })
  await renew()
})

it('a scheduled run waits for the exact end of a publish window that is some seconds away', async () => {
  const { kid, published_at: publishedAt } = await publish(400)
  await invoke({})
  const active = activeKey(await readKeySet())
  expect(active?.kid).toBe(kid)
  const late = (active?.active_at ?? 0) - (publishedAt + window)
  expect(late).toBeGreaterThanOrEqual(0)
  expect(late).toBeLessThan(15_000)
})

it.each([
  ['a scheduled run', 'a step that is due in more than half a minute', 31_000, {}],
  ['a requested rotation', 'a step that is due soon', 20_000, { action: 'rotate' }],
])('%s does not wait for %s', async (_run, _step, left, event) => {
  const { kid } = await publish(left)
  const signer = activeKey(await readKeySet())?.kid ?? ''
  const started = performance.now()
  await invoke(event)
  expect(performance.now() - started).toBeLessThan(9_000)
  expect(keyIn((await readKeySet()).keys, 'published')?.kid).toBe(kid)
  expect(activeKey(await readKeySet())?.kid).toBe(signer)
})

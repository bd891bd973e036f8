import { beforeEach, expect, it } from 'vitest'
import { handler as activated } from '../../../functions/intake/device.activated.ts'
import { handler as deactivated } from '../../../functions/intake/device.deactivated.ts'
import { readOverview } from '../../../shared/dashboard/overview.ts'
import { deliver, deliverLast, refusedAs } from '../../support/deliver.ts'
import { applyEvent } from '../../support/apply-event.ts'
import { addUser } from '../../support/ledger.ts'

const at = 1_700_000_000_000

let users: [number, number]

const activation = (changes: object = {}) => ({
  device_id: `d-${users[0]}`,
  user_id: users[0],
  at,
  ...changes,
})

/** How many active devices each of the two users has. */
const counts = async () =>
  (await Promise.all(users.map((userId) => readOverview(userId)))).map(({ devices }) => devices)

beforeEach(async () => {
  users = [await addUser(), await addUser()]
})

it.each([
  ['activated', '0@1+', [1, 0]],
  ['activated twice', '0@1+ 0@1+', [1, 0]],
  ['that another user activates', '0@1+ 1@2+', [0, 1]],
  ['whose latest event arrives first', '1@5+ 0@3+ 0@4-', [0, 1]],
  ['that another user deactivates', '0@1+ 1@2-', [1, 0]],
  ['that its former user deactivates', '0@1+ 1@2+ 0@3-', [0, 1]],
  ['that its former user deactivates, in the opposite order', '0@3- 1@2+ 0@1+', [0, 1]],
  ['activated and deactivated at one instant', '0@1+ 0@1-', [0, 0]],
  ['deactivated and activated at one instant', '0@1- 0@1+', [0, 0]],
])(
  'a device counts for who activated it last, until that user deactivates it: %s (user@instant: %s)',
  async (_what, events, expected) => {
    for (const [, user, late, sign] of events.matchAll(/(\d)@(\d)([+-])/g)) {
      const event = activation({ at: at + Number(late), user_id: users[Number(user)] })
      await applyEvent(sign === '+' ? activated : deactivated, event)
    }
    expect(await counts()).toEqual(expected)
  },
)

it('an activation of a device that another user has activated later is overtaken', async () => {
  expect(await applyEvent(activated, activation({ at: at + 1 }))).toBe('applied')
  expect(await applyEvent(activated, activation({ at: at + 3, user_id: users[1] }))).toBe('applied')
  expect(await applyEvent(activated, activation({ at: at + 2 }))).toBe('overtaken')
})

it('an activation that is sent twice counts once', async () => {
  const send = () => deliver(activated, activation())
  expect([await send(), await send()]).toEqual(['done', 'done'])
  expect(await counts()).toEqual([1, 0])
})

it('an activation that comes again for another user is refused', async () => {
  await deliver(activated, activation())
  const other = activation({ user_id: users[1] })
  expect(await deliver(activated, other)).toEqual(refusedAs('conflicting_content'))
  expect(await counts()).toEqual([1, 0])
})

it('an activation waits for its user to be registered', async () => {
  expect(await deliver(activated, activation({ user_id: 1 }))).toBe('retry')
})

it('an activation is refused if its user is not registered within a minute', async () => {
  expect(await deliverLast(activated, activation({ user_id: 1 }))).toEqual(refusedAs('unknown_user'))
})

it.each([
  ['device_id', ''],
  ['device_id', 'a b'],
  ['user_id', 0],
  ['at', 'today'],
])('device.activated with the %s %j is refused', async (field, value) => {
  const delivery = await deliver(activated, activation({ [field]: value }))
  expect(delivery).toEqual(refusedAs(`invalid_detail: ${field}`))
  expect(await counts()).toEqual([0, 0])
})

import { beforeEach, expect, it } from 'vitest'
import { handler as activated } from '../../../functions/intake/device.activated.ts'
import { handler as deactivated } from '../../../functions/intake/device.deactivated.ts'
import { readOverview } from '../../../shared/dashboard/overview.ts'
import { applyEvent } from '../../support/apply-event.ts'
import { deliver, deliverLast, refusedAs } from '../../support/deliver.ts'
import { addUser } from '../../support/ledger.ts'

const at = 1_700_000_000_000

let owner: number

const event = (changes: object = {}) => ({ device_id: `d-${owner}`, user_id: owner, at, ...changes })
const countDevices = async () => (await readOverview(owner)).devices

beforeEach(async () => {
  owner = await addUser()
  await applyEvent(activated, event({ at: at + 1 }))
})

it('a deactivated device no longer counts, however often the event is sent', async () => {
  const send = () => deliver(deactivated, event({ at: at + 2 }))
  expect([await send(), await send()]).toEqual(['done', 'done'])
  expect(await countDevices()).toBe(0)
})

it('a deactivation before the activation that stands is overtaken', async () => {
  expect(await applyEvent(deactivated, event())).toBe('overtaken')
  expect(await countDevices()).toBe(1)
})

it('a deactivation by a user who does not have the device is overtaken', async () => {
  const stranger = event({ user_id: await addUser(), at: at + 2 })
  expect(await applyEvent(deactivated, stranger)).toBe('overtaken')
  expect(await countDevices()).toBe(1)
})

it('a deactivation that comes again for another user is refused', async () => {
  await deliver(deactivated, event({ at: at + 2 }))
  const other = event({ at: at + 2, user_id: await addUser() })
  expect(await deliver(deactivated, other)).toEqual(refusedAs('conflicting_content'))
})

it('a deactivation waits for its user to be registered', async () => {
  expect(await deliver(deactivated, event({ user_id: 1 }))).toBe('retry')
})

it('a deactivation is refused if its user is not registered within a minute', async () => {
  expect(await deliverLast(deactivated, event({ user_id: 1 }))).toEqual(refusedAs('unknown_user'))
})

it.each([
  ['device_id', 'x'.repeat(201)],
  ['user_id', -1],
  ['at', undefined],
])('device.deactivated with the %s %j is refused', async (field, value) => {
  const delivery = await deliver(deactivated, event({ at: at + 2, [field]: value }))
  expect(delivery).toEqual(refusedAs(`invalid_detail: ${field}`))
  expect(await countDevices()).toBe(1)
})

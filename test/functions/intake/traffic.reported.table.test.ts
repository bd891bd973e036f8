import { randomUUID } from 'node:crypto'
import { beforeEach, expect, it } from 'vitest'
import { handler } from '../../../functions/intake/traffic.reported.ts'
import { readOverview } from '../../../shared/dashboard/overview.ts'
import { deliver, deliverLast, refusedAs } from '../../support/deliver.ts'
import { addUser } from '../../support/ledger.ts'

let owner: number

const report = (changes: object = {}) => ({
  report_id: randomUUID(),
  user_id: owner,
  device_id: 'd',
  bytes: 1_234_567_891,
  at: 1_700_000_000_000,
  ...changes,
})
const traffic = async () => (await readOverview(owner)).traffic_gb.toFixed()

beforeEach(async () => {
  owner = await addUser()
})

it('the bytes of several reports are added, whatever the device', async () => {
  for (const change of [{}, { device_id: 'e' }, { bytes: '999999999999999999' }, { bytes: 0 }])
    expect(await deliver(handler, report(change))).toBe('done')
  expect(await traffic()).toBe('1000000002.469135781')
})

it('a report that is sent twice counts once', async () => {
  const detail = report()
  for (const bytes of [1_234_567_891, '1234567891'])
    expect(await deliver(handler, { ...detail, bytes })).toBe('done')
  expect(await traffic()).toBe('1.234567891')
})

it('a report that comes again with other bytes is refused', async () => {
  const detail = report()
  await deliver(handler, detail)
  expect(await deliver(handler, { ...detail, bytes: 1 })).toEqual(refusedAs('conflicting_content'))
  expect(await traffic()).toBe('1.234567891')
})

it('a report waits for its user to be registered', async () => {
  expect(await deliver(handler, report({ user_id: 1 }))).toBe('retry')
})

it('a report is refused if its user is not registered within a minute', async () => {
  expect(await deliverLast(handler, report({ user_id: 1 }))).toEqual(refusedAs('unknown_user'))
})

it.each([
  ['bytes', -1],
  ['bytes', 1.5],
  ['bytes', '1e3'],
  ['bytes', '1234567890123456789'],
  ['bytes', undefined],
  ['device_id', ''],
  ['report_id', 'a b'],
  ['at', 1_700_000_000],
])('traffic.reported with the %s %j is refused', async (field, value) => {
  const delivery = await deliver(handler, report({ [field]: value }))
  expect(delivery).toEqual(refusedAs(`invalid_detail: ${field}`))
  expect(await traffic()).toBe('0')
})

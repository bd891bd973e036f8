import * as v from 'valibot'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { handler as addressesProvisioned } from '../../../../functions/intake/addresses.provisioned.ts'
import { handler as clientRegistered } from '../../../../functions/intake/client.registered.ts'
import { handler as deviceActivated } from '../../../../functions/intake/device.activated.ts'
import { handler as packagePurchased } from '../../../../functions/intake/package.purchased.ts'
import { handler as ratesPublished } from '../../../../functions/intake/rates.published.ts'
import { handler as trafficReported } from '../../../../functions/intake/traffic.reported.ts'
import { handler as userUpdated } from '../../../../functions/intake/user.updated.ts'
import { handler as walletAdjusted } from '../../../../functions/intake/wallet.adjusted.ts'
import { handler as walletTransferred } from '../../../../functions/intake/wallet.transferred.ts'
import { handler as withdrawalUpdated } from '../../../../functions/intake/withdrawal.updated.ts'
import { checkOldEvents } from '../../../../infra/ops/doctor/old-events.ts'
import { packRecords } from '../../../../infra/ops/events/pack-records.ts'
import { findChanged } from '../../../../infra/ops/mend/find-changed.ts'
import { findWallets, verifyLedger } from '../../../../infra/ops/verify-ledger.ts'
import { keyText, scanItems } from '../../../../shared/db/read.ts'
import { type Item, Key, tableName } from '../../../../shared/db/table.ts'
import { deleteItems } from '../../../../shared/db/write.ts'
import { readAddresses } from '../../../../shared/deposits/deposit-address.ts'
import { applyOnce, eventRecord, isRecorded, withSearch } from '../../../../shared/events/event-record.ts'
import { type Intake, intake } from '../../../../shared/events/intake.ts'
import { RejectedEvent } from '../../../../shared/events/rejected-event.ts'
import { undoRegistrations } from '../../../../shared/sign-in/undo-registrations.ts'
import { newUserIds } from '../../../support/community.ts'
import { join } from '../../../support/community-events.ts'
import { type Delivery, deliver, interceptQueues } from '../../../support/deliver.ts'
import { adjustment } from '../../../support/ledger.ts'
import { useOwnTable } from '../../../support/own-table.ts'
import { runAndDieAt } from '../../../support/tamper-calls.ts'

let dropTable: () => Promise<void>
beforeAll(async () => {
  dropTable = await useOwnTable()
  // The tests share the table, so its clock goes on from one to the next.
  vi.useFakeTimers({ toFake: ['Date'] })
})
beforeEach(() => interceptQueues())
afterAll(async () => {
  vi.useRealTimers()
  await dropTable()
})

/** At each how many calls the packing is killed. */
const step = process.env['NIGHTLY'] === '1' ? 1 : 9

const at = 1_700_000_000_000
const pack = () => packRecords(Date.now() + 1, undefined, 0)

/** An event, and what its sender might change in it by mistake. */
interface Sent {
  handler: Intake
  detail: object
  change: object
}

/** One event of every kind that is recorded in another way, or applied by other code. */
function eventsOf(userId: number): Sent[] {
  const id = `event-${userId}`
  const user = { user_id: userId, at }
  return [
    { handler: walletAdjusted, detail: adjustment(userId, { amount: '100' }), change: { amount: '101' } },
    {
      handler: walletTransferred,
      detail: { transfer_id: id, ...user, from: 'asset', to: 'reward', currency: 'USDT', amount: '1' },
      change: { amount: '2' },
    },
    {
      handler: withdrawalUpdated,
      detail: { withdrawal_id: id, ...user, currency: 'USDT', amount: '1', status: 'requested' },
      change: { at: at + 1 },
    },
    {
      handler: packagePurchased,
      detail: { purchase_id: id, ...user, amount: '1' },
      change: { amount: '2' },
    },
    {
      handler: trafficReported,
      detail: { report_id: id, ...user, device_id: 'd', bytes: 1 },
      change: { bytes: 2 },
    },
    { handler: deviceActivated, detail: { device_id: id, ...user }, change: { user_id: userId + 1 } },
    {
      handler: userUpdated,
      detail: { update_id: id, ...user, nickname: 'Ann' },
      change: { nickname: 'Bob' },
    },
    {
      handler: clientRegistered,
      detail: { client_id: id, updated_at: at, name: 'Shop', redirect_uris: [], scopes: ['openid'] },
      change: { secret: 'a secret of more than 32 characters' },
    },
    {
      handler: ratesPublished,
      detail: { quote: 'USDT', as_of: at + userId / 1_000_000, rates: { BTC: '1' } },
      change: { rates: { BTC: '2' } },
    },
  ]
}

/** Adds two users, and sends an event of every kind. */
async function start(): Promise<{ userId: number; events: Sent[] }> {
  const userId = newUserIds()
  for (const id of [userId, userId + 1])
    await join({ userId: id, nickname: 'Ann', email: `${id}@example.com`, registeredAt: at })
  const events = eventsOf(userId)
  for (const { handler, detail } of events) expect(await deliver(handler, detail)).toBe('done')
  return { userId, events }
}

const repeat = (events: readonly Sent[]): Promise<Delivery[]> =>
  Promise.all(events.map(({ handler, detail }) => deliver(handler, detail)))
const repeatChanged = (events: readonly Sent[]): Promise<Delivery[]> =>
  Promise.all(events.map(({ handler, detail, change }) => deliver(handler, { ...detail, ...change })))

const isRecord = ({ pk }: Item) => String(pk).startsWith('EVT#')

async function readTable(): Promise<Item[]> {
  const items: Item[] = []
  for await (const item of scanItems({}, 1)) items.push(item)
  return items
}

/** Everything in the table but what tells that events have taken effect. */
const readEffects = async (): Promise<string[]> =>
  (await readTable())
    .filter((item) => !/^(EVT|SEEN|REFUSED)#/.test(String(item['pk'])))
    .map((item) => `${keyText(item)} ${JSON.stringify(item)}`)
    .sort()

/** A day later, deletes what has a TTL, as DynamoDB does then. */
async function expire(): Promise<void> {
  vi.setSystemTime(Date.now() + 86_400_000)
  const expiring = (await readTable()).filter((item) => isRecord(item) && item['ttl'] !== undefined)
  await deleteItems(expiring.map((item) => v.parse(Key, item)))
}

describe('packing the records of old events', () => {
  it.each([true, false])(
    'an event has no second effect before, while and after its record is packed, wherever the packing dies, that call carried out: %s',
    async (carriedOut) => {
      const { userId, events } = await start()
      const effects = await readEffects()
      const done = events.map(() => 'done')
      for (let call = carriedOut ? 1 : 5; await runAndDieAt(pack, call, carriedOut); call += step) {
        expect(await repeat(events)).toEqual(done)
        await expire()
      }
      expect(await readEffects()).toEqual(effects)
      await expire()
      expect((await readTable()).filter((item) => isRecord(item) && item['digest'] !== undefined)).toEqual([])
      expect(await repeat(events)).toEqual(done)
      const refused = expect.stringMatching(/^conflicting_content/) as string
      expect(await repeatChanged(events)).toEqual(events.map(() => ({ refused })))
      expect(await readEffects()).toEqual(effects)
      const wallets = await findWallets(userId)
      expect((await verifyLedger(wallets, () => undefined)).differences).toEqual([])
      // The key of a refused event was never used.
      const next = adjustment(userId)
      expect(await deliver(walletAdjusted, { ...next, amount: '1000', direction: 2 })).toHaveProperty(
        'refused',
      )
      await pack()
      await expire()
      expect(await deliver(walletAdjusted, next)).toBe('done')
      expect(await readEffects()).not.toEqual(effects)
    },
    60_000,
  )

  it('an event that was searched for before its record was packed finds the record, which stays for a day', async () => {
    const record = eventRecord('test.happened', String(newUserIds()), {})
    await pack()
    await applyOnce(record, [])
    const copy = withSearch(record)
    expect(await copy.packed).toEqual([])
    expect((await pack()).packed).toBe(1)
    expect(await applyOnce(copy, [])).toBe('duplicate')
    const [item] = (await readTable()).filter(({ pk }) => String(pk).endsWith(record.businessKey))
    expect(Number(item?.['ttl'])).toBeGreaterThan(Date.now() / 1000 + 86_000)
    expect((await pack()).packed, 'it is packed once').toBe(0)
  })

  it('a younger record is left as it is, and a later one does not count as used', async () => {
    const record = eventRecord('test.happened', String(newUserIds()), {})
    await applyOnce(record, [])
    expect((await packRecords(Date.now() - 60_000, undefined, 0)).packed).toBe(0)
    expect(await isRecorded({ ...record, businessKey: `${record.businessKey} 2` })).toBe(false)
  })

  it('an event that took effect and was packed is no dead letter, also if it would be rejected now', async () => {
    const happens = (apply: Intake['apply']) =>
      intake({
        detailType: 'test.happened',
        detail: v.object({ key: v.number(), number: v.number() }),
        key: ({ key }) => String(key),
        apply: (detail, record) => apply(detail as never, record),
      })
    const detail = { key: newUserIds(), number: 1 }
    expect(
      await deliver(
        happens((_, record) => applyOnce(record, [])),
        detail,
      ),
    ).toBe('done')
    await pack()
    await expire()
    const rejecting = happens(() => Promise.reject(new RejectedEvent('invalid_detail')))
    expect(await deliver(rejecting, detail)).toBe('done')
    expect(await deliver(rejecting, { ...detail, number: 2 })).toHaveProperty('refused')
  })

  it('a batch of addresses of which only the first part took effect is completed after that part was packed', async () => {
    const batch = { batch_id: String(newUserIds()), currency: 'USDT', currency_network: 'TRON' }
    const addresses = [{ address: `address-${batch.batch_id}` }]
    const detail = { ...batch, required_confirmations: 1, addresses }
    await applyOnce(eventRecord('addresses.provisioned', batch.batch_id, detail), [])
    await pack()
    await expire()
    expect(await deliver(addressesProvisioned, detail)).toBe('done')
    expect(await readAddresses(addresses.map((one) => ({ ...one, network: 'TRON' })))).toHaveLength(1)
  })

  it('doctor reports that old events are to be packed nine months after they were packed last, to the end', async () => {
    const check = () => checkOldEvents(tableName())
    await pack()
    expect(await check()).toMatchObject({ ok: true })
    vi.setSystemTime(Date.now() + 274 * 86_400_000)
    expect(await check()).toMatchObject({ ok: true })
    vi.setSystemTime(Date.now() + 86_400_000)
    await runAndDieAt(pack, 4, true)
    expect(await check()).toMatchObject({ ok: false })
    await pack()
    expect(await check()).toMatchObject({ ok: true })
  })

  it('a mend does not take a registration for torn because its record is packed', async () => {
    const { userId } = await start()
    await pack()
    await expire()
    const { removed, changes } = await undoRegistrations(new Set([userId]), [], at)
    expect([[...removed], changes]).toEqual([[], []])
  })

  it('what is changed since an instant is not told when the records of events since then are packed', async () => {
    const since = Date.now()
    await start()
    await expect(findChanged(since)).resolves.toBeDefined()
    await pack()
    await expect(findChanged(since)).rejects.toThrow('packed')
    await expect(findChanged(Date.now() + 1)).resolves.toBeDefined()
  })
})

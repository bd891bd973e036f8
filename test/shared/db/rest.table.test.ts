import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { handler as addressAssigned } from '../../../functions/intake/address.assigned.ts'
import { handler as addressesProvisioned } from '../../../functions/intake/addresses.provisioned.ts'
import { handler as clientRegistered } from '../../../functions/intake/client.registered.ts'
import { handler as depositUpdated } from '../../../functions/intake/deposit.updated.ts'
import { handler as deviceActivated } from '../../../functions/intake/device.activated.ts'
import { handler as deviceDeactivated } from '../../../functions/intake/device.deactivated.ts'
import { handler as packagePurchased } from '../../../functions/intake/package.purchased.ts'
import { handler as ratesPublished } from '../../../functions/intake/rates.published.ts'
import { handler as rewardGranted } from '../../../functions/intake/reward.granted.ts'
import { handler as trafficReported } from '../../../functions/intake/traffic.reported.ts'
import { handler as userRegistered } from '../../../functions/intake/user.registered.ts'
import { handler as userUpdated } from '../../../functions/intake/user.updated.ts'
import { handler as walletAdjusted } from '../../../functions/intake/wallet.adjusted.ts'
import { handler as walletTransferred } from '../../../functions/intake/wallet.transferred.ts'
import { handler as withdrawalUpdated } from '../../../functions/intake/withdrawal.updated.ts'
import { events } from '../../../infra/events.ts'
import { canonicalJson } from '../../../shared/canonical-json.ts'
import { growTree } from '../../../shared/community/growth/run.ts'
import { scanItems } from '../../../infra/ops/restore/scan-items.ts'
import { keyText, readItem } from '../../../shared/db/read.ts'
import type * as restModule from '../../../shared/db/rest.ts'
import { restAt } from '../../../shared/db/rest.ts'
import { db, type Item } from '../../../shared/db/table.ts'
import { writeItem } from '../../../shared/db/write.ts'
import type { Intake } from '../../../shared/events/intake.ts'
import { verifyWallet } from '../../../shared/ledger/verify/wallet.ts'
import { applyEvent } from '../../support/apply-event.ts'
import { newUserIds, silenceTreeQueue } from '../../support/community.ts'
import { assignment, newPool, provision } from '../../support/deposits.ts'
import { useOwnTable } from '../../support/own-table.ts'
import { newRegistration } from '../../support/sign-in.ts'

const hour = Date.parse('2026-11-22T04:00:00Z')

beforeEach(silenceTreeQueue)
it.each([
  [-1_800_000, 0],
  [-5_001, 0],
  [-5_000, 7_000],
  [-1, 2_001],
  [0, 2_000],
  [1_999, 1],
  [2_000, 0],
])('a write at the full hour plus %i ms waits %i ms', (after, milliseconds) => {
  expect(restAt(hour + after)).toBe(milliseconds)
})

it('shortly before and after a full hour, a function with a queue delays its writes, but not its reads', async () => {
  const rest = await vi.importActual<typeof restModule>('../../../shared/db/rest.ts')
  rest.restOnTheHour()
  onTestFinished(() => void db.middlewareStack.remove('restOnTheHour'))
  vi.useFakeTimers({ toFake: ['Date'], now: hour + 1_000 })
  const startedAt = performance.now()
  const done: string[] = []
  const key = { pk: `NOTE#${newUserIds()}`, sk: 'NOTE' }
  const writing = writeItem({ Put: { Item: key } }).then(() => done.push('write'))
  await readItem(key).then(() => done.push('read'))
  await writing
  expect(done).toEqual(['read', 'write'])
  expect(performance.now() - startedAt).toBeGreaterThan(990)
})

type Sent = readonly [handler: Intake, detail: object]

const root = newUserIds()
const pool = newPool()
const batch = provision(pool, 2)
const [address = ''] = batch.addresses.map((each) => each.address)
const at = 1_700_000_000_000
const money = { currency: 'USDT', at }
const user = (userId: number, referrerId?: number): Sent => [
  userRegistered,
  newRegistration({ user_id: userId, referrer_id: referrerId, login_password: null, totp_secret: null }),
]
const id = (name: string) => `${root}-${name}`
const member = { user_id: root + 2, ...money }
const earner = { user_id: root + 2, currency: 'USDT' }
const buyer = { user_id: root + 2, at }
const deposit = {
  ...{ ...money, currency_network: pool.network, txid: id('tx'), output_index: 0, address },
  amount: '5',
}

/** Events of every kind that changes stored data, in an order in which each is accepted. */
const history: readonly Sent[] = [
  [ratesPublished, { quote: 'USDT', as_of: at, rates: { BTC: '100000' } }],
  user(root),
  user(root + 1, root),
  user(root + 2, root + 1),
  [addressesProvisioned, batch],
  [addressAssigned, assignment(pool, address, root + 2, at)],
  [
    walletAdjusted,
    { adjustment_id: id('a'), ...member, wallet: 'asset', amount: '9', direction: 1, reason: 'a' },
  ],
  [
    rewardGranted,
    { reward_id: id('r'), ...earner, reward_type: 'NODE', amount: '7', earned_on: '2024-11-20' },
  ],
  [
    rewardGranted,
    { reward_id: id('s'), ...earner, reward_type: 'NODE', amount: '0.5', earned_on: '2024-11-20' },
  ],
  [walletTransferred, { transfer_id: id('t'), ...member, from: 'reward', to: 'asset', amount: '2' }],
  [
    packagePurchased,
    {
      purchase_id: id('p'),
      ...buyer,
      amount: '3',
      payment: { wallet: 'asset', currency: 'USDT', amount: '3' },
    },
  ],
  [packagePurchased, { purchase_id: id('q'), ...buyer, amount: '4' }],
  [deviceActivated, { device_id: id('d'), user_id: root + 2, at }],
  [deviceDeactivated, { device_id: id('d'), user_id: root + 2, at: at + 1 }],
  [deviceActivated, { device_id: id('d'), user_id: root + 1, at: at + 2 }],
  [trafficReported, { report_id: id('b'), user_id: root + 2, device_id: id('d'), bytes: 5, at }],
  [withdrawalUpdated, { withdrawal_id: id('w'), ...member, amount: '1', status: 'requested' }],
  [depositUpdated, { ...deposit, confirmations: 1, status: 'confirming' }],
  [withdrawalUpdated, { withdrawal_id: id('w'), ...member, amount: '1', status: 'settled' }],
  [depositUpdated, { ...deposit, confirmations: 12, status: 'confirmed' }],
  [
    userUpdated,
    { update_id: id('u'), user_id: root + 2, at, nickname: 'Renamed', email: `${root}@example.com` },
  ],
  [
    clientRegistered,
    { client_id: id('c'), updated_at: at, name: 'A', redirect_uris: [], scopes: ['openid'] },
  ],
]

async function live(events: readonly Sent[]): Promise<void> {
  for (const [handler, detail] of events) {
    await applyEvent(handler, detail)
    await growTree(root, Date.now() + 60_000)
  }
}

/** Applies `history`. After `writes` writes, all others fail. Resolves with true if a write failed. */
async function liveUntil(writes: number): Promise<boolean> {
  const send = db.send.bind(db)
  let left = writes
  const spy = vi.spyOn(db, 'send').mockImplementation(((command: { constructor: { name: string } }) => {
    const isWrite = /Write|Put|Update|Delete/.test(command.constructor.name)
    if (isWrite && (left -= 1) < 0) return Promise.reject(new Error('the hour'))
    return send(command as never)
  }) as never)
  const [outcome] = await Promise.allSettled([live(history)])
  spy.mockRestore()
  return outcome.status === 'rejected'
}

/**
 * Names of attributes whose values can differ between two tables to which the same events were applied: times
 * and versions, and what is made of the ids that events have only on a bus.
 */
const anew =
  /^(version|(created|applied|announced|credited|settled|last)_at|event_id|applied|gsk|batch_number|first|tail|grownBatch|grownMembers)$/

async function readContents(): Promise<string[]> {
  const contents: string[] = []
  const lasting = (name: string, value: unknown) => (anew.test(name) ? undefined : value)
  for await (const item of scanItems({}, 1))
    contents.push(`${keyText(item)} ${canonicalJson(JSON.parse(JSON.stringify(item, lasting)) as Item)}`)
  return contents.sort()
}

async function withOwnTable<Result>(work: () => Promise<Result>): Promise<Result> {
  const dropTable = await useOwnTable()
  return work().finally(dropTable)
}

it('the history has every type of event that changes stored data', () => {
  const types = new Set(history.map(([{ detailType }]) => detailType))
  const lasting = events.filter(({ momentary }) => !momentary).map(({ detailType }) => detailType)
  expect(lasting.filter((detailType) => !types.has(detailType))).toEqual([])
})

it('after a restore to a moment between two writes, repeating all events completes the table', async () => {
  const whole = await withOwnTable(async () => {
    await live(history)
    return readContents()
  })
  // Tests every 16th moment only. `npm run test:properties` tests every moment.
  const step = process.env['RUNS'] === undefined ? 16 : 1
  for (let writes = 1, hasMore = true; hasMore; writes += step)
    hasMore = await withOwnTable(async () => {
      const wasCut = await liveUntil(writes)
      await live(history)
      expect(await readContents(), `after ${writes} writes`).toEqual(whole)
      for (const wallet of ['asset', 'reward'] as const)
        expect((await verifyWallet({ userId: root + 2, wallet })).differences).toEqual([])
      return wasCut
    })
}, 120_000)

import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { handler as depositUpdated } from '../../../../functions/intake/deposit.updated.ts'
import { handler as deviceActivated } from '../../../../functions/intake/device.activated.ts'
import { handler as deviceDeactivated } from '../../../../functions/intake/device.deactivated.ts'
import { handler as packagePurchased } from '../../../../functions/intake/package.purchased.ts'
import { handler as rewardGranted } from '../../../../functions/intake/reward.granted.ts'
import { handler as trafficReported } from '../../../../functions/intake/traffic.reported.ts'
import { handler as walletAdjusted } from '../../../../functions/intake/wallet.adjusted.ts'
import { handler as walletTransferred } from '../../../../functions/intake/wallet.transferred.ts'
import { handler as withdrawalUpdated } from '../../../../functions/intake/withdrawal.updated.ts'
import { groupByPartition } from '../../../../infra/ops/mend/find-changed.ts'
import { findTorn } from '../../../../infra/ops/mend/find-torn.ts'
import { mendLedger } from '../../../../infra/ops/mend/mend-ledger.ts'
import { readOverview } from '../../../../shared/dashboard/overview.ts'
import { readRecordsPage, readRecordsStart } from '../../../../shared/deposits/deposit.ts'
import {
  addressDigest,
  type NetworkAddress,
  putAddress,
} from '../../../../shared/deposits/deposit-address.ts'
import { putProfile, readProfile } from '../../../../shared/community/member.ts'
import { propagateToAncestors } from '../../../../shared/community/propagate-to-ancestors.ts'
import { putJournalEntry } from '../../../../shared/community/tree-journal.ts'
import { claimEmail, putUser } from '../../../../shared/users/user.ts'
import { keyText, scanItems } from '../../../../shared/db/read.ts'
import type { Item, Key } from '../../../../shared/db/table.ts'
import type { Outcome } from '../../../../shared/events/event-record.ts'
import { OutOfOrderEvent, RejectedEvent } from '../../../../shared/events/rejected-event.ts'
import { canonicalJson } from '../../../../shared/canonical-json.ts'
import { readIndexItems } from '../../../../shared/ledger/undo-wallets.ts'
import { verifyWallet } from '../../../../shared/ledger/verify/wallet.ts'
import { readWallet } from '../../../../shared/ledger/wallet.ts'
import { stringifyExact } from '../../../../shared/stringify-exact.ts'
import { applyEvent } from '../../../support/apply-event.ts'
import { newUserIds, silenceTreeQueue } from '../../../support/community.ts'
import { addBills, adjustment, chunkOfBills, describeWallet, readPage } from '../../../support/ledger.ts'
import { useOwnTable } from '../../../support/own-table.ts'
import { recordStates, restoreStates, writeAll } from '../../../support/torn-table.ts'

const runs = Number(process.env['RUNS'] ?? 40)
/** Number of random histories, each of a user of its own, that are torn and mended together. */
const together = 20
/** Number of people of them for whom what the endpoints answer is compared, too. */
const asked = 4

const wallet = fc.constantFrom('asset' as const, 'reward' as const)
const amount = fc.constantFrom('1', '0.5', '2.000000000000000001', '100')
const currency = fc.constantFrom('USDT', 'BTC')
/** There are few business keys, so that some events repeat an earlier one, with the same or other content. */
const key = fc.nat({ max: 5 })

const at = 1_700_000_000_000

const event = fc.oneof(
  fc.record({
    type: fc.constant('adjustment' as const),
    key,
    wallet,
    currency,
    amount,
    direction: fc.constantFrom(1, 1, 1, 2),
  }),
  fc.record({ type: fc.constant('transfer' as const), key, from: wallet, amount }),
  fc.record({
    type: fc.constant('reward' as const),
    key,
    currency,
    amount,
    earned_on: fc.constantFrom('2026-11-20', '2026-11-21'),
  }),
  fc.record({
    type: fc.constant('withdrawal' as const),
    key: fc.nat({ max: 1 }),
    status: fc.constantFrom('requested', 'settled', 'cancelled'),
  }),
  fc.record({
    type: fc.constant('deposit' as const),
    key: fc.nat({ max: 1 }),
    confirmations: fc.nat({ max: 12 }),
    status: fc.constantFrom('pending', 'confirming', 'confirmed'),
  }),
  fc.record({
    type: fc.constant('purchase' as const),
    key,
    amount,
    wallet: fc.option(wallet, { nil: undefined, freq: 2 }),
  }),
  fc.record({
    type: fc.constant('device' as const),
    key: fc.nat({ max: 1 }),
    active: fc.boolean(),
    at: fc.nat({ max: 3 }),
  }),
  fc.record({ type: fc.constant('traffic' as const), key, bytes: fc.nat({ max: 9 }) }),
)
type Sent = typeof event extends fc.Arbitrary<infer Event> ? Event : never

const credit: Sent = {
  type: 'adjustment',
  key: 10,
  wallet: 'asset',
  currency: 'USDT',
  amount: '100',
  direction: 1,
}

/** The first events of every history, so that there is money to move, and something to advance. */
const first: readonly Sent[] = [
  credit,
  { type: 'deposit', key: 0, confirmations: 0, status: 'pending' },
  { type: 'withdrawal', key: 0, status: 'requested' },
]

/** A user of a history, with a deposit address. */
interface Person {
  userId: number
  address: NetworkAddress
}

/** Applies an event as its function does. */
function send({ userId, address }: Person, { key: number, ...sent }: Sent): Promise<Outcome> {
  const id = `${userId}-${number}`
  const common = { user_id: userId, currency: 'USDT', at }
  switch (sent.type) {
    case 'adjustment':
      return applyEvent(walletAdjusted, { adjustment_id: id, ...common, ...sent, reason: 'test' })
    case 'transfer': {
      const to = sent.from === 'asset' ? 'reward' : 'asset'
      return applyEvent(walletTransferred, { transfer_id: id, ...common, ...sent, to })
    }
    case 'reward':
      return applyEvent(rewardGranted, {
        reward_id: id,
        ...common,
        ...sent,
        reward_type: `type ${number % 2}`,
      })
    case 'withdrawal':
      return applyEvent(withdrawalUpdated, { withdrawal_id: id, ...common, ...sent, amount: '0.5' })
    case 'deposit': {
      const output = {
        currency_network: address.network,
        txid: id,
        output_index: 0,
        address: address.address,
      }
      return applyEvent(depositUpdated, { ...output, ...common, ...sent, amount: '5' })
    }
    case 'purchase': {
      const { wallet: from, amount: price } = sent
      const payment = from && { wallet: from, currency: 'USDT', amount: price }
      return applyEvent(packagePurchased, { purchase_id: id, ...common, amount: price, payment })
    }
    case 'device':
      return applyEvent(sent.active ? deviceActivated : deviceDeactivated, {
        device_id: id,
        user_id: userId,
        at: sent.at,
      })
    case 'traffic':
      return applyEvent(trafficReported, { report_id: id, ...common, bytes: sent.bytes, device_id: 'd' })
  }
}

/** A history: events before the instant of the mend, and events after it, of which transactions are torn. */
const history = fc.record({
  before: fc.array(event, { maxLength: 2, size: 'max' }),
  after: fc.array(event, { minLength: 2, maxLength: 3, size: 'max' }),
})
type Drawn = typeof history extends fc.Arbitrary<infer History> ? History : never

/** Applies events in order; a rejected one has no effect. Returns those that were not rejected. */
async function apply(person: Person, events: readonly Sent[]): Promise<Sent[]> {
  const applied: Sent[] = []
  for (const sent of events) {
    try {
      await send(person, sent)
      applied.push(sent)
    } catch (error) {
      if (!(error instanceof RejectedEvent || error instanceof OutOfOrderEvent)) throw error
    }
  }
  return applied
}

/** Attributes that say when and how often something was written, which replayed events may change. */
const volatile =
  /^(\+.*|version|last_at|changed_at|requested_at|credited_at|created_at|applied_at|event_id|gpk|gsk|s|first|tail|before|sk)$/

const describeItem = (item: Item): string => {
  const lasting = (name: string, value: unknown) => (volatile.test(name) ? undefined : value)
  return canonicalJson(JSON.parse(JSON.stringify(item, lasting)))
}

/** All that is stored about users, except instants, versions and the evidence of mends. */
async function readContents(userIds: readonly number[]): Promise<Map<number, string[]>> {
  const contents = new Map<number, string[]>(userIds.map((userId) => [userId, []]))
  for await (const item of scanItems({}, 1)) {
    const text = `${keyText(item)} ${JSON.stringify(item['user_id'] ?? '')}`
    const owner = /^(?:MEND#|ADDR|POOL)/.test(text)
      ? undefined
      : userIds.find((id) => text.includes(String(id)))
    if (owner !== undefined) contents.get(owner)?.push(`${keyText(item)} ${describeItem(item)}`)
  }
  return contents
}

/** What the endpoints answer about a user. */
async function readAnswers(userId: number): Promise<string> {
  const page = { current: 1, size: 20 }
  const records = await readRecordsPage(page, await readRecordsStart(page, userId))
  const wallets = await Promise.all(
    (['asset', 'reward'] as const).map(async (name) => {
      const { holdings } = describeWallet(await readWallet({ userId, wallet: name }, { consistent: true }))
      const bills = await readPage(userId, name)
      const credits = await readPage(userId, name, { amountDirection: 1, currency: 'USDT' })
      return { holdings, bills, credits }
    }),
  )
  const text = stringifyExact({ records, wallets, overview: await readOverview(userId) })
  return text.replaceAll(/"(created_at|credited_at)":\d+/g, '')
}

/** Adds people who are referred by another one, with a deposit address each. */
async function addPeople(count: number): Promise<Person[]> {
  const rootId = newUserIds()
  const people = Array.from({ length: count }, (_, i) => ({
    userId: rootId + i + 1,
    address: { address: `address-${rootId + i + 1}`, network: 'TRON' },
  }))
  const writes = people.flatMap(({ userId, address }) => {
    const user = userOf(userId)
    const member = { ...user, joinedAt: at, rootId, depth: 1, upline: [rootId] }
    const assigned = {
      currency: 'USDT',
      currency_network: address.network,
      batch_id: 'test',
      user_id: userId,
    }
    return [
      putUser({ ...user, referrerId: rootId, registeredAt: at }),
      putProfile(member),
      putJournalEntry(rootId, 0, userId, { joined: true }, at),
      claimEmail(user.email, userId),
      putAddress(addressDigest(address), {
        ...assigned,
        address: address.address,
        required_confirmations: 12,
      }),
    ]
  })
  await writeAll([
    putProfile({ ...userOf(rootId), joinedAt: at, rootId, depth: 0, upline: [] }),
    putUser({ ...userOf(rootId), referrerId: undefined, registeredAt: at }),
    claimEmail(userOf(rootId).email, rootId),
    ...writes,
  ])
  await grow(people)
  return people
}

const userOf = (userId: number) => ({ userId, nickname: 'a member', email: `${userId}@example.com` })

/** The root of the tree of people who were added together. */
const rootOf = ([person]: readonly Person[]): number => (person ?? expect.unreachable()).userId - 1

/** Works off the journal of the tree of people who were added together. */
const grow = (people: readonly Person[]) => propagateToAncestors(rootOf(people), Date.now() + 60_000)

describe('a mend of the ledger', () => {
  let dropTable = async () => {}
  let last = 0

  beforeAll(async () => {
    dropTable = await useOwnTable()
    silenceTreeQueue()
    const now = Date.now.bind(Date)
    vi.spyOn(Date, 'now').mockImplementation(() => (last = Math.max(now(), last + 1)))
  })
  afterAll(() => dropTable())

  it(
    'after torn transactions, a mend and a replay, all is as on a stack that never failed',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(history, { minLength: together, maxLength: together, size: 'max' }),
          // Which state of each item the restored table has: 0 is as before the first torn transaction.
          fc.infiniteStream(fc.nat({ max: 11 })),
          // Which of the events before are sent again.
          fc.infiniteStream(fc.boolean()),
          async (histories, cuts, repeated) => {
            const people = await addPeople(together)
            const each = <T>(run: (person: Person, drawn: Drawn) => Promise<T>) =>
              Promise.all(people.map((person, i) => run(person, histories[i] ?? expect.unreachable())))
            const kept = await each((person, { before }) => apply(person, [...first, ...before]))
            const since = Date.now()
            const recorded = await recordStates(async () => {
              await each((person, { after }) => apply(person, after))
              await grow(people)
            })
            const userIds = people.map(({ userId }) => userId)
            const whole = await readContents(userIds)
            const root = await readProfile(rootOf(people))
            // What is stored decides the answers, so those of a few people are enough.
            const answers = await Promise.all(userIds.slice(0, asked).map(readAnswers))
            const cut = cuts[Symbol.iterator]()
            await restoreStates(recorded, (states) => states[cut.next().value % states.length])
            await mendLedger(since, true)
            const repeats = people.map((_, i) => kept[i]?.filter(() => repeated.next().value) ?? [])
            await each((person, { after }) =>
              apply(person, [...(repeats[people.indexOf(person)] ?? []), ...after]),
            )
            await grow(people)
            expect(await readProfile(rootOf(people))).toEqual(root)
            const mended = await readContents(userIds)
            for (const [i, userId] of userIds.entries()) {
              expect(mended.get(userId)?.sort()).toEqual(whole.get(userId)?.sort())
              if (i >= asked) continue
              expect(await readAnswers(userId)).toEqual(answers[i])
              for (const name of ['asset', 'reward'] as const)
                expect((await verifyWallet({ userId, wallet: name })).differences).toEqual([])
            }
          },
        ),
        { numRuns: runs / together, endOnFailure: true },
      )
    },
    runs * 1_000,
  )

  it('a mend takes back what postings have added to the index of bills, and completes what is missing of it', async () => {
    const [{ userId } = expect.unreachable()] = await addPeople(1)
    const id = { userId, wallet: 'asset' } as const
    await addBills(id, chunkOfBills.slice(0, 63))
    const indexed = await readIndexItems(id)
    const post = (count: number, changes: object = {}) =>
      Promise.all(
        Array.from({ length: count }, () => applyEvent(walletAdjusted, adjustment(userId, changes))),
      )
    await post(3)
    const since = Date.now()
    await post(64, { currency: 'BTC' })
    expect(await readIndexItems(id)).not.toEqual(indexed)
    for (const [number, { pk, sk }] of [...(await readIndexItems(id)).values()].entries())
      if (number % 3 === 0) await writeAll([{ Delete: { Key: { pk, sk } as Key } }])
    await mendLedger(since, true)
    expect(await verifyWallet(id)).toEqual({ bills: 66, differences: [] })
    await post(140)
    expect(await verifyWallet(id)).toEqual({ bills: 206, differences: [] })
  })

  it.each<[string, Sent[]]>([
    ['adjustment', [credit]],
    ['transfer', [credit, { type: 'transfer', key: 1, from: 'asset', amount: '1' }]],
    ['reward', [{ type: 'reward', key: 1, currency: 'USDT', amount: '1', earned_on: '2026-11-20' }]],
    ['request of a withdrawal', [credit, { type: 'withdrawal', key: 1, status: 'requested' }]],
    ['settled withdrawal', [credit, { type: 'withdrawal', key: 1, status: 'settled' }]],
    ['cancellation before its request', [{ type: 'withdrawal', key: 1, status: 'cancelled' }]],
    ['new deposit', [{ type: 'deposit', key: 1, confirmations: 1, status: 'pending' }]],
    ['credited deposit', [{ type: 'deposit', key: 1, confirmations: 12, status: 'confirmed' }]],
    ['purchase', [{ type: 'purchase', key: 1, amount: '1', wallet: undefined }]],
    ['paid purchase', [credit, { type: 'purchase', key: 1, amount: '1', wallet: 'asset' }]],
    ['device', [{ type: 'device', key: 1, active: true, at: 1 }]],
    ['traffic', [{ type: 'traffic', key: 1, bytes: 5 }]],
  ])('every part of the transaction of one %s is found torn, and all of it is not', async (_, events) => {
    const [person = expect.unreachable()] = await addPeople(1)
    await apply(person, events.slice(0, -1))
    const since = Date.now()
    const recorded = await recordStates(() => apply(person, events.slice(-1)))
    // The worker deletes journal entries soon, so it is no sign of anything when one is not there.
    const items = recorded.filter(({ key: { pk } }) => !pk.startsWith('TREE#'))
    const isFound = (item: Item) =>
      ['applied_at', 'changed_at', 'created_at', 'last_at'].some((name) => Number(item[name] ?? 0) >= since)
    const countTorn = (part: number) => {
      const restored = items.map(({ states: [before, after] }, i) => ((part >> i) & 1 ? after : before))
      return findTorn(groupByPartition(restored.filter((item) => item && isFound(item)) as Item[]), since)
        .length
    }
    const whole = 2 ** items.length - 1
    expect([countTorn(0), countTorn(whole)]).toEqual([0, 0])
    const unnoticed = Array.from({ length: whole - 1 }, (_, i) => i + 1).filter(
      (part) => countTorn(part) === 0,
    )
    expect(unnoticed).toEqual([])
  })
})

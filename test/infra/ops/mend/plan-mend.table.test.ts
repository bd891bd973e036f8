import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { handler as addressAssigned } from '../../../../functions/intake/address.assigned.ts'
import { handler as addressesProvisioned } from '../../../../functions/intake/addresses.provisioned.ts'
import { handler as clientRegistered } from '../../../../functions/intake/client.registered.ts'
import { handler as packagePurchased } from '../../../../functions/intake/package.purchased.ts'
import { handler as ratesPublished } from '../../../../functions/intake/rates.published.ts'
import { findChanged } from '../../../../infra/ops/mend/find-changed.ts'
import { findTorn, findUnsound, type Torn } from '../../../../infra/ops/mend/find-torn.ts'
import { mendLedger } from '../../../../infra/ops/mend/mend-ledger.ts'
import { exportMembers, prefetchMembers } from '../../../../shared/community/find-members.ts'
import { standardCapacity } from '../../../../shared/community/counted-b-tree/node.ts'
import { standardLimits } from '../../../../shared/community/search-index/append-members.ts'
import { propagateToAncestors } from '../../../../shared/community/propagate-to-ancestors.ts'
import { searchBudgetKey } from '../../../../shared/community/search-budget.ts'
import { readSum } from '../../../../shared/db/exact-sum.ts'
import { readItem, scanItems } from '../../../../shared/db/read.ts'
import { db, type Item } from '../../../../shared/db/table.ts'
import { writeItem } from '../../../../shared/db/write.ts'
import { claimAddress } from '../../../../shared/deposits/user-address.ts'
import { OutOfOrderEvent, RejectedEvent } from '../../../../shared/events/rejected-event.ts'
import { stringifyExact } from '../../../../shared/stringify-exact.ts'
import { applyEvent } from '../../../support/apply-event.ts'
import { newUserIds, silenceTreeQueue } from '../../../support/community.ts'
import { assignment, newPool, provision } from '../../../support/deposits.ts'
import { useOwnTable } from '../../../support/own-table.ts'
import { newRegistration, register, update } from '../../../support/sign-in.ts'
import { keysWritten, type Recorded, recordStates, restoreStates } from '../../../support/torn-table.ts'

type Act = () => Promise<unknown>

/** Something that happens in the table around the instant of a mend. */
interface Story {
  before: Act[]
  /** What happens after the instant: the events that a replay repeats. */
  after: Act[]
  /** The trees that the worker grows after each. */
  roots: number[]
}

const at = 1_700_000_000_000
const emailOf = (userId: number) => `User.${userId}@example.com`
const named = (userId: number, referrerId?: number): Act => {
  const detail = newRegistration({
    user_id: userId,
    referrer_id: referrerId,
    login_password: null,
    totp_secret: null,
    nickname: `Member ${userId}`,
    email: emailOf(userId),
  })
  return () => register(detail)
}
const updated = (userId: number, fields: object, number = 1): Act => {
  const detail = { update_id: `${userId}-${number}`, user_id: userId, at: at + number, ...fields }
  return () => update(detail)
}
const client = (id: number, number: number): Act => {
  const registration = { client_id: `client-${id}`, updated_at: at + number, name: `Name ${number}` }
  return () => applyEvent(clientRegistered, { ...registration, redirect_uris: [], scopes: ['openid'] })
}
const rates = (number: number): Act => {
  const detail = { quote: 'USDT', as_of: at + number, rates: { BTC: String(number) } }
  return () => applyEvent(ratesPublished, detail)
}
const purchase = (userId: number, id: string): Act => {
  const detail = { purchase_id: `${userId}-${id}`, user_id: userId, amount: '2.5', at }
  return () => applyEvent(packagePurchased, detail)
}

/** Claims an address the first time; later it only sends the event of that assignment, as a replay does. */
function claimed(userId: number, pool: ReturnType<typeof newPool>): Act {
  let sent: object | undefined
  return async () => {
    if (sent !== undefined) return applyEvent(addressAssigned, sent)
    const { address, created_at: createdAt } = await claimAddress(userId, pool)
    sent = assignment(pool, address, userId, createdAt)
    return undefined
  }
}

/** Every kind of transaction that is not of the ledger; mend-ledger.table.test.ts has those. */
const stories = {
  registration: (id) => ({ before: [], after: [named(id)], roots: [] }),
  'registrations in a tree': (id) => ({
    before: [named(id), named(id + 1, id)],
    after: [named(id + 2, id + 1), named(id + 3, id + 2)],
    roots: [id],
  }),
  'growth of a tree by a purchase': (id) => ({
    before: [named(id), named(id + 1, id), named(id + 2, id + 1), purchase(id + 2, 'first')],
    after: [purchase(id + 2, 'second')],
    roots: [id],
  }),
  'new nicknames': (id) => ({
    before: [named(id), named(id + 1, id)],
    after: [updated(id + 1, { nickname: 'One' }), updated(id + 1, { nickname: 'Two' }, 2)],
    roots: [id],
  }),
  'new nicknames and a registration in a search index': (id) => ({
    before: [named(id), ...[1, 2, 3].map((number) => named(id + number, id))],
    after: [
      updated(id + 1, { nickname: 'Two' }),
      named(id + 4, id),
      updated(id + 2, { nickname: 'Two words' }),
      updated(id + 1, { nickname: 'One' }, 2),
    ],
    roots: [id],
  }),
  'new email address': (id) => ({
    before: [named(id), named(id + 1, id)],
    after: [updated(id + 1, { email: `new-${id}@example.com` })],
    roots: [id],
  }),
  'email address of another user': (id) => ({
    before: [named(id), named(id + 1)],
    after: [updated(id, { email: `moved-${id}@example.com` }), updated(id + 1, { email: emailOf(id) })],
    roots: [],
  }),
  'new password': (id) => ({
    before: [named(id)],
    after: [updated(id, { login_password: '0'.repeat(32), passkey: true })],
    roots: [],
  }),
  client: (id) => ({ before: [client(id, 1)], after: [client(id, 2), client(id + 1, 1)], roots: [] }),
  rates: () => ({ before: [rates(1)], after: [rates(2)], roots: [] }),
  'batch of addresses and an assignment': (id) => {
    const pool = newPool()
    const batch = provision(pool, 2)
    const provisioned = () => applyEvent(addressesProvisioned, batch)
    return { before: [named(id)], after: [provisioned, claimed(id, pool)], roots: [] }
  },
  'assignment of an address': (id) => {
    const pool = newPool()
    const batch = provision(pool, 2)
    const provisioned = () => applyEvent(addressesProvisioned, batch)
    return { before: [named(id), provisioned], after: [claimed(id, pool)], roots: [] }
  },
} satisfies Record<string, (id: number) => Story>

/** Makes lists of three members have a search index. */
const storage = { capacity: standardCapacity, limits: { ...standardLimits, minIndexed: 3 } }

const grow = (roots: readonly number[]) =>
  Promise.all(roots.map((rootId) => propagateToAncestors(rootId, Date.now() + 60_000, 'all', storage)))

/** Applies events as a replay does: in any order, and those that were refused again as long as that helps. */
async function replay(acts: readonly Act[]): Promise<void> {
  for (let waiting = [...acts]; waiting.length > 0;) {
    const refused: Act[] = []
    for (const act of waiting) {
      try {
        await act()
      } catch (error) {
        if (!(error instanceof RejectedEvent || error instanceof OutOfOrderEvent)) throw error
        refused.push(act)
      }
    }
    if (refused.length === waiting.length) throw new Error(`${refused.length} events stay refused`)
    waiting = refused
  }
}

/** What a replay makes anew: instants, versions, salted hashes, and how texts are packed into chunks. */
const anew =
  /^(version|changed_at|created_at|applied_at|announced_at|event_id|items|login_password|chunk|grown|revocation_due|~?team_performance|\+.*)$/

/** All that is stored, but lists and what searches read, which readMembers compares by what they answer. */
async function readContents(): Promise<string[]> {
  const contents: string[] = []
  for await (const item of scanItems({}, 1)) {
    if (/^(?:MEND|TEXT|FIND|TEAM|DIR|WAKE|SEARCH)#/.test(String(item['pk'])) || item['sk'] === 'HEAD')
      continue
    contents.push(describeItem(item))
  }
  return contents.sort()
}

const describeItem = (item: Item): string =>
  Object.entries({
    ...item,
    sk: String(item['sk']).replace(/^HELD#/, 'FREE#'),
    // A sum has two parts, which depend on how it was added up.
    total: readSum(item, 'team_performance'),
  })
    .filter(
      ([name]) => !anew.test(name) || (name === 'created_at' && String(item['pk']).startsWith('ADDRS#')),
    )
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(' ')

/** What the owner of a tree sees of it, as a list and by search. */
const readMembers = (roots: readonly number[]) =>
  Promise.all(
    roots.map(async (rootId) => {
      const answers: string[] = []
      for (const keyword of [undefined, 'member', 'two']) {
        await writeItem({ Delete: { Key: searchBudgetKey(rootId) } })
        const filter = { type: 'COMMUNITY' as const, keyword }
        answers.push(stringifyExact(await exportMembers(await prefetchMembers(filter, rootId), filter)))
      }
      return answers
    }),
  )

async function listTorn(since: number): Promise<Torn[]> {
  const found = await findChanged(since)
  return [...findTorn(found, since), ...(await findUnsound(found, since))]
}

/** Starts a mend that fails after this many changes, or ends before if it has fewer. */
async function interruptMend(since: number, changes: number): Promise<void> {
  const send = db.send.bind(db)
  const begun: Promise<unknown>[] = []
  const refused: unknown[] = []
  const spy = vi.spyOn(db, 'send').mockImplementation((async (command: unknown) => {
    if (!(command instanceof TransactWriteCommand)) return send(command as never)
    if (begun.length === changes) {
      refused.push(command)
      throw new Error('interrupted')
    }
    const sent: Promise<unknown> = send(command as never)
    begun.push(sent)
    return sent
  }) as never)
  try {
    const outcome = await mendLedger(since, true).then(
      () => 'finished',
      (error: unknown) => (error as Error).message,
    )
    expect(outcome).toBe(refused.length === 0 ? 'finished' : 'interrupted')
    await Promise.all(begun)
  } finally {
    spy.mockRestore()
  }
}

describe('a plan to mend', () => {
  let dropTable = async () => {}

  beforeAll(async () => {
    dropTable = await useOwnTable()
    silenceTreeQueue()
  })
  afterAll(() => dropTable())

  it('each transaction of users, clients, rates, addresses and trees, torn at each of its items, is mended', async () => {
    const told: Story[] = Object.values(stories).map((story) => story(newUserIds()))
    const roots = told.flatMap((story) => story.roots)
    for (const { before } of told) await replay(before)
    await grow(roots)
    const since = Date.now()
    const recorded: Recorded[][] = []
    for (const story of told)
      recorded.push(
        await recordStates(async () => {
          await replay(story.after)
          await grow(story.roots)
        }, keysWritten),
      )
    const [whole, members] = [await readContents(), await readMembers(roots)]
    expect(await listTorn(since)).toEqual([])

    // By turns one item of a story is missing, or is all that is there; by default three items of long ones.
    const most = Math.max(...recorded.map((items) => items.length))
    const rounds = process.env['NIGHTLY'] === '1' ? 2 * most : Math.ceil(most / 3)
    for (let round = 0; round < rounds; round += 1) {
      for (const items of recorded) {
        const turns = Math.min(rounds, items.length)
        const turn = round % turns
        const lacks = (turn + Math.floor(round / turns)) % 2 === 0
        await restoreStates(items, (states, i) => states.at((i % turns === turn) === lacks ? 0 : -1))
      }
      if (round % 2 === 0) await interruptMend(since, round)
      await mendLedger(since, true)
      expect(await listTorn(since), `round ${round}`).toEqual([])
      const events = told.flatMap(({ after }) => after)
      await replay(round % 2 === 0 ? events : events.toReversed())
      await grow(roots)
      expect(await readContents(), `round ${round}`).toEqual(whole)
      expect(await readMembers(roots), `round ${round}`).toEqual(members)
    }
    expect(await listTorn(since)).toEqual([])
  }, 600_000)

  it('those who were registered below a user whose registration is gone are registered again, too', async () => {
    const id = newUserIds()
    const { before, after, roots } = stories['registrations in a tree'](id)
    await replay(before)
    await grow(roots)
    const since = Date.now()
    const recorded = await recordStates(() => replay(after))
    await grow(roots)
    const members = await readMembers(roots)
    const isGone = (position: number) => recorded[position]?.key.pk.endsWith(`#${id + 2}`)
    await restoreStates(recorded, (states, position) => states.at(isGone(position) ? 0 : -1))
    const wakeUp = { pk: `WAKE#${id}`, sk: 'WAKE' }
    expect(await readItem(wakeUp, { consistent: true })).toBeDefined()
    await mendLedger(since, true)
    // Otherwise the queue would drop the message about the tree, as one that it has had.
    expect(await readItem(wakeUp, { consistent: true })).toBeUndefined()
    await replay(after)
    await grow(roots)
    expect(await readMembers(roots)).toEqual(members)
    expect(await listTorn(since)).toEqual([])
  })
})

import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb'
import fc from 'fast-check'
import { randomInt } from 'node:crypto'
import { beforeEach, expect, it, vi } from 'vitest'
import { withoutDone } from '../../../../shared/community/growth/ancestor.ts'
import { nextHead, readJournal } from '../../../../shared/community/growth/journal.ts'
import { growTree } from '../../../../shared/community/growth/run.ts'
import { type MemberList, rootKey } from '../../../../shared/community/list/node.ts'
import { readRange } from '../../../../shared/community/list/range.ts'
import { profileKey, readProfile } from '../../../../shared/community/profile.ts'
import { searchBudgetOf } from '../../../../shared/community/search/budget.ts'
import { listMembers, type MemberFilter, prefetchMembers } from '../../../../shared/community/search/find.ts'
import { readItems } from '../../../../shared/db/read.ts'
import { db } from '../../../../shared/db/table.ts'
import { writeItem } from '../../../../shared/db/write.ts'
import { Big } from '../../../../shared/money.ts'
import { stringifyExact } from '../../../../shared/stringify-exact.ts'
import { deliverInOrder, newUserIds, silenceTreeQueue, smallCapacity } from '../../../support/community.ts'
import { buy, join, rename } from '../../../support/community-events.ts'
import { CommunityModel, type ModelMember } from '../../../support/community-model.ts'
import { addNewcomers, addRoot } from '../../../support/newcomers.ts'
import { runAndDieAt, tamperCalls } from '../../../support/tamper-calls.ts'

beforeEach(silenceTreeQueue)
const day = 86_400_000
const runs = Number(process.env['RUNS'] ?? 2)

interface Shape {
  size: number
  /** A member's referrer is one of the `spread` members before it. If `spread` is 1, the tree is a chain. */
  spread: number
  seeds: number[]
}

const shapes = fc
  .record({ size: fc.integer({ min: 2, max: 30 }), spread: fc.constantFrom(1, 3, 40) })
  .chain(({ size, spread }) =>
    fc.record({
      size: fc.constant(size),
      spread: fc.constant(spread),
      seeds: fc.array(fc.nat(1_000_000), { minLength: 4 * size, maxLength: 4 * size }),
    }),
  )

/** Generates a referral tree. Many members join at the same instant, and not in the order of their ids. */
function makeMembers({ size, spread, seeds }: Shape): ModelMember[] {
  const first = newUserIds()
  const seed = (i: number, n: number) => seeds[4 * i + n] ?? 0
  return Array.from({ length: size }, (_, i) => ({
    userId: first + i,
    nickname: `${['Ann', 'BOB', 'Çelik'][seed(i, 0) % 3] ?? ''} ${i}`,
    email: `m${i}-${first}@${seed(i, 0) % 2 === 0 ? 'Example.com' : 'mail.test'}`,
    registeredAt: Date.UTC(2026, 0, 1) + (seed(i, 1) % 5) * (day - 1),
    parent: i === 0 ? undefined : i - 1 - (seed(i, 2) % Math.min(spread, i)),
    purchases: seed(i, 3) % 3 === 0 ? [`${seed(i, 3)}.000000000000000001`, '0.1'] : [],
  }))
}

const eventsOf = (members: readonly ModelMember[]) =>
  members.flatMap(({ userId, nickname, email, registeredAt, parent, purchases }) => [
    () =>
      join({
        userId,
        nickname,
        email,
        registeredAt,
        referrerId: parent === undefined ? undefined : members[parent]?.userId,
      }),
    ...purchases.map((amount, n) => () => buy(userId, amount, `${userId}-${n}`)),
  ])

/** Checks all pages of a member list, with several filters, against the tests' model of the community. */
async function compare(model: CommunityModel, owner: ModelMember, keywords: (string | undefined)[]) {
  const spans = [{}, { beginDate: '2026-01-02' }, { beginDate: '2026-01-02', endDate: '2026-01-03' }]
  for (const type of ['DIRECT', 'COMMUNITY'] as const) {
    for (const keyword of keywords) {
      for (const span of spans) {
        // The search budget is reset, because this test searches more often than a caller is allowed to.
        await writeItem({ Delete: { Key: searchBudgetOf(owner.userId).key } })
        const filter: MemberFilter = { type, keyword, ...span }
        const expected = model.find(owner, filter)
        // The page size is at least seven, and large enough that no list has more than eight pages.
        const size = Math.max(7, Math.ceil(expected.length / 8))
        for (let current = 1; (current - 2) * size < expected.length; current += 1) {
          const page = await listMembers(await prefetchMembers(filter, owner.userId), filter, {
            current,
            size,
          })
          const wanted = {
            records: expected.slice((current - 1) * size, current * size),
            total: expected.length,
            size,
            current,
            pages: Math.ceil(expected.length / size),
          }
          expect(JSON.parse(stringifyExact(page))).toEqual(JSON.parse(stringifyExact(wanted)))
          expect(stringifyExact(page)).toBe(stringifyExact(wanted))
        }
      }
    }
  }
}

const growInSmallNodes = (rootId: number) => growTree(rootId, Date.now() + 60_000, smallCapacity)

it(
  'the referral tree is the same for any order of events, with duplicates, and with two workers at once',
  async () => {
    await fc.assert(
      fc.asyncProperty(shapes, fc.infiniteStream(fc.nat(1_000_000)), async (shape, random) => {
        const members = makeMembers(shape)
        const [root] = members as [ModelMember]
        const events = [...eventsOf(members), ...eventsOf(members).slice(0, 5)]
          .map((event) => ({ event, at: random.next().value as number }))
          .sort((a, b) => a.at - b.at)
          .map(({ event }) => event)
        const half = Math.floor(events.length / 2)
        await deliverInOrder(events.slice(0, half).length === 0 ? [] : [...events.slice(0, half), ...events])
        const renamed = members.slice(-3)
        const newName = (userId: number) => `Renamed ${userId % 2 === 0 ? 'BOB' : 'Ann'}`
        const renames = renamed.map(
          ({ userId }) =>
            () =>
              rename(userId, newName(userId)),
        )
        await Promise.allSettled([
          growInSmallNodes(root.userId),
          growInSmallNodes(root.userId),
          ...renames.map((event) => event()),
        ])
        await growInSmallNodes(root.userId)
        // Some renames may have failed because of concurrent writes, so all are sent again, as SQS would do.
        for (const event of renames) await event()
        for (const member of renamed) member.nickname = newName(member.userId)
        const [last] = renamed as [ModelMember]
        last.nickname = 'Once more'
        await rename(last.userId, last.nickname, 2)
        await growInSmallNodes(root.userId)
        const model = new CommunityModel(members)
        const wholeAddress = (members[1] as ModelMember).email.toUpperCase()
        const hidden = `${String(root.userId).slice(1)}@`
        const names = ['bob', 'ob', 'ç', 'once', 'renamed', 'nobody']
        const parts = ['EXAMPLE.COM', 'm**', wholeAddress, hidden]
        await compare(model, root, [undefined, ...names, ...parts])
        await compare(model, members[Math.floor(members.length / 3)] as ModelMember, [undefined, 'ann'])
      }),
      { numRuns: runs, endOnFailure: true },
    )
  },
  40_000 * runs,
)

it('in a referral tree of 200 levels, each purchase in a batch counts once for each ancestor', async () => {
  const members = makeMembers({ size: 206, spread: 1, seeds: Array.from({ length: 824 }, (_, i) => i * 7) })
  // Members from index 201 on are direct referrals of the member at index 200.
  for (const member of members.slice(201)) member.parent = 200
  const [root] = members as [ModelMember]
  await deliverInOrder(eventsOf(members))
  await growTree(root.userId, Date.now() + 100_000)
  const model = new CommunityModel(members)
  await compare(model, root, [undefined])
  await compare(model, members[200] as ModelMember, [undefined, 'Ç'])
  const buyer = members[205] as ModelMember
  for (let i = 0; i < 40; i += 1) await buy(buyer.userId, '0.25')
  buyer.purchases.push(...Array.from({ length: 40 }, () => '0.25'))
  const send = vi.spyOn(db, 'send')
  await growTree(root.userId, Date.now() + 60_000)
  // 201 ancestors take three transactions (at most 100 writes each). A fourth one deletes 40 journal entries.
  expect(send.mock.calls.filter(([command]) => command instanceof TransactWriteCommand)).toHaveLength(4)
  send.mockRestore()
  expect(await readJournal(root.userId, 1)).toEqual([])
  await compare(model, members[150] as ModelMember, [undefined])
}, 180_000)

const kills = Number(process.env['KILLS'] ?? 4)
const grow = (rootId: number) => growTree(rootId, Date.now() + 60_000, 8)

/** The number of members in a list, and their user ids from the newest to the oldest. */
async function readWhole(list: MemberList) {
  const [root] = await readItems([rootKey(list)], { consistent: true })
  const { total, entries } = await readRange(list, root, { skip: 0, take: Infinity, consistent: true })
  return { total, ids: entries.map(({ userId }) => userId) }
}

it(
  'no matter when a worker is killed, every member list is consistent, and the next worker continues',
  async () => {
    const added = 24
    const size = 1 + added * kills
    const seeds = Array.from({ length: 4 * size }, () => randomInt(1_000_000))
    const members = makeMembers({ size, spread: 40, seeds })
    const [root, child] = members as [ModelMember, ModelMember]
    await deliverInOrder(eventsOf([root]))
    for (let kill = 0; kill < kills; kill += 1) {
      const joined = 1 + added * (kill + 1)
      await deliverInOrder(eventsOf(members.slice(0, joined)))
      // Kills the worker at one of its first 47 calls, before or after the call takes effect.
      await runAndDieAt(() => grow(root.userId), 1 + ((kill * 11 + 23) % 47), kill % 2 === 0)
      const { total, ids } = await readWhole({ kind: 'COMMUNITY', ownerId: root.userId })
      const expected = new CommunityModel(members.slice(0, joined)).find(root, { type: 'COMMUNITY' })
      expect(ids).toEqual(expected.map(({ user_id }) => user_id).filter((id) => ids.includes(id)))
      expect((await readProfile(root.userId))?.teamCount).toBe(total)
    }
    expect(await grow(root.userId)).toBe('finished')
    const model = new CommunityModel(members)
    await compare(model, root, [undefined])
    await compare(model, child, [undefined])
    expect(await readJournal(root.userId, 1)).toEqual([])
  },
  30_000 * kills,
)

it('a batch of purchases is added to an ancestor once, even if another worker overtakes', async () => {
  const members = makeMembers({ size: 2, spread: 1, seeds: Array.from({ length: 8 }, () => 1) })
  const [root, buyer] = members as [ModelMember, ModelMember]
  await deliverInOrder(eventsOf(members))
  expect(await grow(root.userId)).toBe('finished')
  // Makes more journal entries than one transaction can delete.
  for (let i = 0; i < 101; i += 1) await buy(buyer.userId, '0.01')
  const [slow, isSlow] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()]
  const addsToRoot = ({ TransactItems = [] }: TransactWriteCommandInput) =>
    TransactItems.some(({ Update }) => Update?.Key?.['pk'] === profileKey(root.userId).pk)
  let writes = 0
  const { restore } = tamperCalls(async ({ command, perform }) => {
    if (!(command instanceof TransactWriteCommand) || !addsToRoot(command.input)) return perform()
    writes += 1
    if (writes === 1) {
      isSlow.resolve(undefined)
      await slow.promise
    }
    return perform()
  })
  try {
    const first = grow(root.userId)
    await isSlow.promise
    expect(await grow(root.userId)).toBe('finished')
    slow.resolve(undefined)
    expect(await first).toBe('finished')
  } finally {
    restore()
  }
  expect(writes).toBe(2)
  expect((await readProfile(root.userId))?.teamPerformance.toFixed()).toBe('1.01')
})

// Their purchases count once.
it('new members are listed by join time even if their batch takes several transactions', async () => {
  const rootId = await addRoot()
  const shuffled = (userId: number) => 1_767_225_600_000 + ((userId * 7_919) % 401)
  const count = 200
  for (const lastId of [rootId, rootId + count]) {
    await addNewcomers(lastId, count, rootId, shuffled)
    await buy(lastId + 1, '0.5')
    expect(await grow(rootId)).toBe('finished')
  }
  const list = { kind: 'COMMUNITY' as const, ownerId: rootId }
  const { total, ids } = await readWhole(list)
  expect(total).toBe(2 * count)
  const expected = Array.from({ length: 2 * count }, (_, i) => rootId + 1 + i)
  expect(ids).toEqual(expected.sort((one, other) => shuffled(other) - shuffled(one) || other - one))
  expect((await readWhole({ ...list, kind: 'DIRECT' })).ids).toEqual(ids)
  const profile = await readProfile(rootId)
  expect(profile).toMatchObject({ directCount: 2 * count, teamCount: 2 * count })
  expect(profile?.teamPerformance.toFixed()).toBe('1')
})

it('after an interruption, a batch’s purchases are not added to an ancestor again', async () => {
  const ownerId = await addRoot()
  const grown = {
    UpdateExpression: 'SET grownBatch = :batch, grownMembers = :members',
    ExpressionAttributeValues: { ':batch': 5, ':members': 0 },
  }
  await writeItem({ Update: { Key: profileKey(ownerId), ...grown } })
  const update = { ownerId, team: [], done: 0, directs: new Set<never>(), performance: new Big('1') }
  expect(await withoutDone([update], 5)).toEqual([])
  expect(await withoutDone([update], 6)).toEqual([update])
})

it('the next version of a referral tree is the highest, even after a restore of an older one', () => {
  const now = Date.now()
  expect(nextHead({ version: 5 }).version).toBeGreaterThanOrEqual(now)
})

it('a run that cannot clear its journal fails, and the next run adds nothing twice', async () => {
  const rootId = await addRoot()
  await addNewcomers(rootId, 3)
  const clears = (command: unknown) =>
    command instanceof TransactWriteCommand &&
    command.input.TransactItems?.some(({ Delete }) => Delete !== undefined) === true
  const { restore } = tamperCalls(({ command, perform }) =>
    clears(command) ? Promise.reject(new Error('the journal stays')) : perform(),
  )
  try {
    await expect(grow(rootId)).rejects.toThrow('the journal stays')
  } finally {
    restore()
  }
  expect(await grow(rootId)).toBe('finished')
  expect(await readProfile(rootId)).toMatchObject({ directCount: 3, teamCount: 3 })
})

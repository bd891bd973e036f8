import { BatchGetCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, expect, it, vi } from 'vitest'
import { readHead, readJournal } from '../../../../../shared/community/growth/journal.ts'
import { growTree } from '../../../../../shared/community/growth/run.ts'
import { searchBudgetOf } from '../../../../../shared/community/search/budget.ts'
import {
  listMembers,
  type MemberFilter,
  prefetchMembers,
} from '../../../../../shared/community/search/find.ts'
import {
  blockKeys,
  indexKey,
  segmentMembersKeys,
  tailKeys,
  toIndex,
} from '../../../../../shared/community/search/index/items.ts'
import { maintainIndex } from '../../../../../shared/community/search/index/maintain.ts'
import { type IndexLimits, standardLimits } from '../../../../../shared/community/search/index/tail.ts'
import { scanItems } from '../../../../../infra/ops/restore/scan-items.ts'
import { readItem } from '../../../../../shared/db/read.ts'
import { db, type Key, tableName } from '../../../../../shared/db/table.ts'
import { writeItem } from '../../../../../shared/db/write.ts'
import { newUserIds, silenceTreeQueue } from '../../../../support/community.ts'
import { join, rename } from '../../../../support/community-events.ts'
import { addNewcomers, addRoot } from '../../../../support/newcomers.ts'
import { runAndDieAt } from '../../../../support/tamper-calls.ts'

beforeEach(silenceTreeQueue)
const small: IndexLimits = { minIndexed: 3, tailItems: 1, segment: 12 }
const kills = Number(process.env['KILLS'] ?? 4)
const grow = (rootId: number, limits: IndexLimits) =>
  growTree(rootId, Date.now() + 60_000, { capacity: 8, limits })

const community = (ownerId: number) => ({ kind: 'COMMUNITY' as const, ownerId })

/** Searches a downline. Returns the user ids that match, and whether the search read an index. */
async function search(rootId: number, keyword: string) {
  // The search budget is reset, because these tests search more often than a caller is allowed to.
  await writeItem({ Delete: { Key: searchBudgetOf(rootId).key } })
  const send = vi.spyOn(db, 'send')
  const filter: MemberFilter = { type: 'COMMUNITY', keyword }
  const ids: number[] = []
  for (let current = 1, pages = 1; current <= pages; current += 1) {
    const page = await listMembers(await prefetchMembers(filter, rootId), filter, { current, size: 20 })
    pages = page.pages
    ids.push(...page.records.map(({ user_id }) => user_id))
  }
  const keys = send.mock.calls.flatMap(([command]) =>
    command instanceof BatchGetCommand ? (command.input.RequestItems?.[tableName()]?.Keys as Key[]) : [],
  )
  send.mockRestore()
  return { ids, indexed: keys.some(({ pk }) => pk.startsWith('FIND#') && pk.includes('.')) }
}

/** Returns `count` user ids above `rootId` in descending order. Newer members have higher ids. */
const newest = (rootId: number, count: number) => Array.from({ length: count }, (_, i) => rootId + count - i)

/** Reads a search index. `stored`: keys of its items in the table. `used`: keys that the index refers to. */
async function keysOf(rootId: number) {
  const list = community(rootId)
  const filter = {
    FilterExpression: 'begins_with(pk, :prefix)',
    ExpressionAttributeValues: { ':prefix': `FIND#TEAM#${rootId}#` },
  }
  const stored: string[] = []
  for await (const { pk } of scanItems(filter, 1)) stored.push(String(pk))
  const index = toIndex(await readItem(indexKey(list), { consistent: true }))
  if (index === undefined) throw new Error('the list has no index')
  const used = [index, index.replaced].flatMap(({ tail, segments }) => [
    ...tailKeys(list, tail),
    ...segments.flatMap((one) => [...segmentMembersKeys(list, one), ...blockKeys(list, one)]),
  ])
  const names = (keys: readonly string[]) => [...new Set(keys)].sort()
  return { stored: names(stored), used: names(used.map(({ pk }) => pk)), index }
}

it(
  'a member list that reaches the minimum length gets a complete search index, even if the worker is killed repeatedly',
  async () => {
    const root = await addRoot()
    await addNewcomers(root, 2)
    await grow(root, small)
    expect(await search(root, 'newcomer')).toEqual({ ids: newest(root, 2), indexed: false })
    await addNewcomers(root + 2, 28, root)
    await grow(root, small)
    expect(await search(root, 'newcomer')).toEqual({ ids: newest(root, 30), indexed: true })
    for (let killed = 0; killed < kills; killed += 1) {
      await addNewcomers(root + 30 + killed, 1, root)
      await runAndDieAt(() => grow(root, small), 5 + ((killed * 17) % 40), killed % 2 === 0)
      const { ids } = await search(root, 'newcomer')
      expect(ids).toEqual(newest(root, ids.length))
    }
    expect(await grow(root, small)).toBe('finished')
    expect(await search(root, 'newcomer')).toEqual({ ids: newest(root, 30 + kills), indexed: true })
  },
  10_000 * kills,
)

it('new members are merged into the newest index segment until it is full, and the old version of the segment is deleted', async () => {
  const root = await addRoot()
  for (let count = 0; count < 30; count += 3) {
    await addNewcomers(root + count, 3, root)
    await grow(root, small)
  }
  const { stored, used, index } = await keysOf(root)
  expect(index.segments.map(({ size }) => size)).toEqual([12, 12, 6])
  expect(stored).toEqual(used)
  expect(await search(root, 'newcomer')).toEqual({ ids: newest(root, 30), indexed: true })
})

it('no index segment is created while a batch of new members is unfinished, because the segment could miss some of them', async () => {
  const root = await addRoot()
  await addNewcomers(root, 60)
  await grow(root, { ...small, tailItems: 10 })
  await addNewcomers(root + 60, 120, root)
  // Kills one worker at call 1, the next at call 2, and so on, until one is killed in the middle of a batch.
  for (let call = 1; (await readHead(root)).open === undefined; call += 1)
    expect(await runAndDieAt(() => grow(root, small), call, true)).toBe(true)
  await maintainIndex(root, community(root), small)
  expect((await keysOf(root)).index.segments).toEqual([])
  expect(await grow(root, small)).toBe('finished')
  expect(await search(root, 'newcomer')).toEqual({ ids: newest(root, 180), indexed: true })
})

it('an index segment is not stored if another worker renames one of its members in the meantime', async () => {
  const root = newUserIds()
  const about = (userId: number) => ({ userId, nickname: `Ann ${userId}`, email: `${userId}@example.com` })
  await join({ ...about(root), registeredAt: 1 })
  for (let i = 1; i <= 3; i += 1) await join({ ...about(root + i), referrerId: root, registeredAt: i })
  await grow(root, { ...small, tailItems: 10 })
  const send = db.send.bind(db) as (command: unknown) => Promise<unknown>
  let isRenamed = false
  vi.spyOn(db, 'send').mockImplementation((async (command: object) => {
    if (!isRenamed && command.constructor.name === 'PutCommand') {
      isRenamed = true
      await rename(root + 2, 'Zoë')
      expect(await grow(root, { ...small, tailItems: 10 })).toBe('finished')
    }
    return send(command)
  }) as never)
  await expect(maintainIndex(root, community(root), small)).rejects.toThrow('a condition did not hold')
  vi.restoreAllMocks()
  silenceTreeQueue()
  expect(await readJournal(root, 1)).toEqual([])
  await maintainIndex(root, community(root), small)
  expect((await keysOf(root)).index.segments).toHaveLength(1)
  expect(await search(root, 'zoë')).toEqual({ ids: [root + 2], indexed: true })
  expect(await search(root, 'ann')).toEqual({ ids: [root + 3, root + 1], indexed: true })
})

it('the search index of every ancestor finds a renamed member only by the new name, even if the worker was killed at any call', async () => {
  const root = newUserIds()
  const about = (userId: number) => ({ userId, nickname: `Ann ${userId}`, email: `${userId}@example.com` })
  await join({ ...about(root), registeredAt: 1 })
  for (let i = 1; i <= 6; i += 1)
    await join({ ...about(root + i), referrerId: root + i - 1, registeredAt: 1_767_225_600_000 + i })
  await addNewcomers(root + 6, 12, root)
  await grow(root, small)
  let at = 0
  for (const member of [root + 3, root + 6]) {
    for (const [name, stamp] of [
      ['Newcomer Zed', 2],
      ['Zoë', 3],
    ] as const) {
      await rename(member, name, stamp)
      for (let call = 4 + at; call < 100; call += 21)
        await runAndDieAt(() => grow(root, standardLimits), call, at % 2 === 0)
      expect(await grow(root, standardLimits)).toBe('finished')
      at += 1
    }
  }
  for (const owner of [root, root + 2]) {
    expect(await search(owner, 'zo')).toEqual({ ids: [root + 6, root + 3], indexed: true })
    expect((await search(owner, 'zed')).ids).toEqual([])
    expect((await search(owner, 'ann')).ids).toEqual([
      root + 5,
      root + 4,
      ...(owner === root ? [root + 2, root + 1] : []),
    ])
  }
  expect((await search(root, 'newc')).ids).toHaveLength(12)
  await rename(root + 6, 'Zoë', 4, `${root}@mail.test`)
  await grow(root, standardLimits)
  expect(await search(root, 'mail.test')).toEqual({ ids: [root + 6], indexed: true })
})

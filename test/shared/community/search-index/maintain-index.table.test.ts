import { BatchGetCommand, PutCommand } from '@aws-sdk/lib-dynamodb'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { listMembers, type MemberFilter, prefetchMembers } from '../../../../shared/community/find-members.ts'
import { propagateToAncestors } from '../../../../shared/community/propagate-to-ancestors.ts'
import { type IndexLimits, standardLimits } from '../../../../shared/community/search-index/append-members.ts'
import { maintainNext } from '../../../../shared/community/search-index/maintain-next.ts'
import { readIndex, segmentKeys, tailKeys } from '../../../../shared/community/search-index/index-head.ts'
import { type Profile, readProfile } from '../../../../shared/community/member.ts'
import { searchBudgetKey } from '../../../../shared/community/search-budget.ts'
import { headItem, putNextHead, readHead, type TreeHead } from '../../../../shared/community/tree-head.ts'
import { deleteJournalEntry, readJournal } from '../../../../shared/community/tree-journal.ts'
import { toSearchText } from '../../../../shared/community/keyword.ts'
import { replaceTexts } from '../../../../shared/community/search-index/replace-texts.ts'
import { soundIndex } from '../../../../shared/community/search-index/sound-index.ts'
import { keyText, scanItems } from '../../../../shared/db/read.ts'
import { db, type Item, type Key, tableName } from '../../../../shared/db/table.ts'
import { transact, writeItem } from '../../../../shared/db/write.ts'
import { newUserIds, silenceTreeQueue } from '../../../support/community.ts'
import { join, rename } from '../../../support/community-events.ts'
import { addNewcomers, addRoot } from '../../../support/newcomers.ts'
import { runAndDieAt } from '../../../support/tamper-calls.ts'

beforeEach(silenceTreeQueue)
afterEach(() => vi.restoreAllMocks())

const small: IndexLimits = { minIndexed: 3, tailItems: 1, smallSegment: 10, smallSegments: 3, segment: 12 }
/** How often the worker is killed. */
const kills = Number(process.env['KILLS'] ?? 4)
const capacity = { entries: 8, children: 8 }
const propagate = (rootId: number, limits: IndexLimits) =>
  propagateToAncestors(rootId, Date.now() + 60_000, 'all', { capacity, limits })

/** The members of a downline whom a keyword finds, and whether the search read their texts one by one. */
async function search(rootId: number, keyword: string) {
  // One caller may not search as often in a minute as these tests do.
  await writeItem({ Delete: { Key: searchBudgetKey(rootId) } })
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
  return { ids, scanned: keys.some(({ pk }) => pk.startsWith('TEXT#')) }
}

/** User ids of the newcomers of a root, the newest first. */
const newest = (rootId: number, count: number) => Array.from({ length: count }, (_, i) => rootId + count - i)

/** The keys of all items of a search index that are in the table, and those that a search may read. */
async function keysOf(rootId: number) {
  const list = { kind: 'COMMUNITY' as const, ownerId: rootId }
  const prefix = `FIND#TEAM#${rootId}#`
  const filter = {
    FilterExpression: 'begins_with(pk, :prefix)',
    ExpressionAttributeValues: { ':prefix': prefix },
  }
  const stored: string[] = []
  for await (const { pk } of scanItems(filter, 1)) stored.push(String(pk))
  const index = await readIndex(list)
  const used = [
    ...(index === undefined ? [] : tailKeys(list, index.tail)),
    ...(index?.segments ?? []).flatMap((segment) => segmentKeys(list, segment)),
  ]
  const names = (keys: readonly string[]) => [...new Set(keys)].sort()
  return { stored: names(stored), used: names(used.map(({ pk }) => pk)), index }
}

it(
  'an index is made of a list that had none, and of each tail, although its worker is killed again and again',
  async () => {
    const root = await addRoot()
    await addNewcomers(root, 30)
    await propagate(root, standardLimits)
    expect(await search(root, 'newcomer')).toEqual({ ids: newest(root, 30), scanned: true })

    const send = db.send.bind(db) as (command: unknown) => Promise<unknown>
    for (let killed = 0; killed < kills; killed += 1) {
      await addNewcomers(root + 30 + killed, 1, root)
      let callsLeft = 8 + killed * 17
      vi.spyOn(db, 'send').mockImplementation((command) => {
        callsLeft -= 1
        if (callsLeft < 0) throw new Error('killed')
        return send(command) as never
      })
      await propagate(root, small).catch((error: unknown) =>
        expect(error).toMatchObject({ message: 'killed' }),
      )
      vi.restoreAllMocks()
      silenceTreeQueue()
      const { ids } = await search(root, 'newcomer')
      expect(ids).toEqual(newest(root, ids.length))
    }
    expect(await propagate(root, small)).toBe('finished')
    expect(await search(root, 'newcomer')).toEqual({ ids: newest(root, 30 + kills), scanned: false })
    const { stored, used, index } = await keysOf(root)
    expect(stored).toEqual(used)
    expect(index?.segments.length).toBeGreaterThan(2)
  },
  10_000 * kills,
)

it('members whom an earlier release adds to a list are found at once, and are in its index with the next one', async () => {
  const root = await addRoot()
  await addNewcomers(root, 20)
  await propagate(root, small)
  expect(await search(root, 'newcomer')).toEqual({ ids: newest(root, 20), scanned: false })
  // An earlier release knows no indexes, like limits under which this list has none.
  await addNewcomers(root + 20, 3, root)
  await propagate(root, standardLimits)
  expect(await search(root, 'newcomer')).toEqual({ ids: newest(root, 23), scanned: true })
  await addNewcomers(root + 23, 1, root)
  await propagate(root, small)
  expect(await search(root, 'newcomer')).toEqual({ ids: newest(root, 24), scanned: false })
  const { stored, used } = await keysOf(root)
  expect(stored).toEqual(used)
})

it('an index waits until the release before, which tells the worker of no new names, has ended', async () => {
  const root = await addRoot()
  await addNewcomers(root, 5)
  // A head as that release writes it.
  const head = { version: 1, chunks: 0, batch: [], done: 0 }
  await writeItem({ Put: { Item: headItem(root, head as unknown as TreeHead) } })
  expect(await propagate(root, small)).toBe('finished')
  expect(await search(root, 'newcomer')).toEqual({ ids: newest(root, 5), scanned: true })
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_001 })
  expect(await propagate(root, small)).toBe('finished')
  vi.useRealTimers()
  expect(await search(root, 'newcomer')).toEqual({ ids: newest(root, 5), scanned: false })
})

it('an index waits for an open batch, which adds members to it without changing the head of the tree', async () => {
  const root = await addRoot()
  await addNewcomers(root, 60)
  // The worker dies soon after it has opened the batch.
  await runAndDieAt(
    () => propagateToAncestors(root, Date.now() + 60_000, 'first', { capacity, limits: small }),
    8,
    true,
  )
  const list = { kind: 'COMMUNITY' as const, ownerId: root }
  const head = await readHead(root)
  expect(head.open).toHaveLength(60)
  await writeItem(putNextHead(root, { ...head, due: [list] }))
  await maintainNext(root, small)
  expect(await readIndex(list)).toBeUndefined()
  expect(await propagate(root, small)).toBe('finished')
  expect(await search(root, 'newcomer')).toEqual({ ids: newest(root, 60), scanned: false })
})

it('a name that changes while an index is made is in the index', async () => {
  const root = newUserIds()
  const about = (userId: number) => ({ userId, nickname: `Ann ${userId}`, email: `${userId}@example.com` })
  await join({ ...about(root), registeredAt: 1 })
  for (let i = 1; i <= 3; i += 1) await join({ ...about(root + i), referrerId: root, registeredAt: i })
  const send = db.send.bind(db) as (command: unknown) => Promise<unknown>
  let isMade = false
  vi.spyOn(db, 'send').mockImplementation((async (command: unknown) => {
    const key = command instanceof PutCommand ? String(command.input.Item?.['pk']) : ''
    if (!isMade && key.startsWith(`FIND#TEAM#${root}#`)) {
      isMade = true
      await rename(root + 2, 'Zoë')
      // What another worker does with the journal entry of the new name.
      const text = toSearchText({ nickname: 'Zoë', email: `${root + 2}@example.com` })
      const members = [{ userId: root + 2, joinedAt: 2, text }]
      await replaceTexts([{ list: { kind: 'COMMUNITY', ownerId: root }, members }])
      const entries = await readJournal(root, 1)
      const done = entries.map((entry) => deleteJournalEntry(root, entry))
      await transact([putNextHead(root, await readHead(root)), ...done])
    }
    return send(command)
  }) as never)
  await propagate(root, small)
  vi.restoreAllMocks()
  silenceTreeQueue()
  expect(isMade).toBe(true)
  expect(await search(root, 'zoë')).toEqual({ ids: [root + 2], scanned: false })
  expect(await search(root, 'ann')).toEqual({ ids: [root + 3, root + 1], scanned: false })
})

it('a new name is found in every index of the ancestors and the old one no more, wherever the member is in them', async () => {
  const root = newUserIds()
  const about = (userId: number) => ({ userId, nickname: `Ann ${userId}`, email: `${userId}@example.com` })
  await join({ ...about(root), registeredAt: 1 })
  for (let i = 1; i <= 6; i += 1)
    await join({ ...about(root + i), referrerId: root + i - 1, registeredAt: 1_767_225_600_000 + i })
  await addNewcomers(root + 6, 12, root)
  await propagate(root, small)
  for (const member of [root + 3, root + 6]) {
    await rename(member, 'Newcomer Zed', 2)
    await propagate(root, standardLimits)
    await rename(member, 'Zoë', 3)
    await propagate(root, standardLimits)
  }
  for (const owner of [root, root + 2]) {
    const { scanned, ids } = await search(owner, 'zo')
    expect({ scanned, ids }).toEqual({ scanned: false, ids: [root + 6, root + 3] })
    expect((await search(owner, 'zed')).ids).toEqual([])
    expect((await search(owner, 'ann')).ids).toEqual([
      root + 5,
      root + 4,
      ...(owner === root ? [root + 2, root + 1] : []),
    ])
  }
  expect((await search(root, 'newc')).ids).toHaveLength(12)
  const members = await Promise.all(newest(root, 18).map(async (id) => (await readProfile(id)) as Profile))
  const stored = new Map<string, Item>()
  for await (const item of scanItems({}, 1)) stored.set(keyText(item), item)
  const index = soundIndex({ kind: 'COMMUNITY', ownerId: root }, members, (key) => stored.get(keyText(key)))
  expect(index).not.toEqual([])
})

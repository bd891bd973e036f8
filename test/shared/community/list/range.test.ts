import type { BatchGetCommand } from '@aws-sdk/lib-dynamodb'
import { afterEach, expect, it, vi } from 'vitest'
import {
  type BTreeNode,
  type ListedMember,
  type MemberList,
  nodeKey,
  packNode,
  packRoot,
  rootKey,
} from '../../../../shared/community/list/node.ts'
import { readMatches, readRange } from '../../../../shared/community/list/range.ts'
import { keyText } from '../../../../shared/db/read.ts'
import { db, type Item, type Key, tableName } from '../../../../shared/db/table.ts'
import { asStored } from '../../../support/as-stored.ts'

afterEach(() => vi.restoreAllMocks())

const list: MemberList = { kind: 'COMMUNITY', ownerId: 1 }
const member = (userId: number): ListedMember => ({
  userId,
  joinedAt: userId * 1_000,
  text: { nickname: `member ${userId}`, maskedEmail: 'm***r@example.com' },
})
const leaf = (...ids: number[]): BTreeNode => ({ kind: 'leaf', version: 1, entries: ids.map(member) })

/** The root item of a list with a leaf for each `[number of the leaf, first member, members counted]`. */
const rootItem = (...leaves: [id: number, first: number, count: number][]): Item => {
  const entries = leaves.map(([id, first, count]) => ({ userId: first, joinedAt: first * 1_000, count, id }))
  return asStored({
    ...rootKey(list),
    ...packRoot({ node: { kind: 'branch', version: 1, entries }, nextId: 9 }),
  })
}

/** Answers reads with these leaves, and reads of the root with the item. Returns the keys that are read. */
function serve(leaves: Record<number, BTreeNode>, root?: Item): { readKeys: string[] } {
  const items = new Map<string, Item>(
    Object.entries(leaves).map(([id, node]) => {
      const key = nodeKey(list, Number(id))
      return [keyText(key), asStored({ ...key, ...packNode(node) })]
    }),
  )
  if (root !== undefined) items.set(keyText(rootKey(list)), root)
  const readKeys: string[] = []
  const send = async (command: BatchGetCommand) => {
    const keys = (command.input.RequestItems?.[tableName()]?.Keys ?? []) as Key[]
    readKeys.push(...keys.map(keyText))
    return { Responses: { [tableName()]: keys.flatMap((key) => items.get(keyText(key)) ?? []) } }
  }
  vi.spyOn(db, 'send').mockImplementation(send as never)
  return { readKeys }
}

const idsOf = (entries: readonly ListedMember[]) => entries.map(({ userId }) => userId)

it('a page has no member twice, even if a leaf has got a member since its parent was read', async () => {
  serve({ 1: leaf(1, 2, 3, 4), 2: leaf(5, 6) })
  const root = rootItem([1, 1, 3], [2, 5, 2])
  const [newer, older] = await Promise.all([
    readRange(list, root, { skip: 0, take: 2 }),
    readRange(list, root, { skip: 2, take: 2 }),
  ])
  expect(newer).toMatchObject({ total: 5 })
  expect([idsOf(newer.entries), idsOf(older.entries)]).toEqual([
    [6, 5],
    [3, 2],
  ])
})

it('a search finds a member whom a leaf has got since its parent was read', async () => {
  serve({ 1: leaf(1, 2, 3, 4), 2: leaf(5, 6) })
  const query = { matches: () => true, reserve: async () => undefined }
  const found = await readMatches(list, rootItem([1, 1, 3], [2, 5, 2]), query)
  expect(idsOf(found)).toEqual([6, 5, 4, 3, 2, 1])
})

it('if a leaf was split after its parent was read, a page and a search read everything again', async () => {
  serve({ 1: leaf(1, 2), 2: leaf(5, 6), 3: leaf(3, 4) }, rootItem([1, 1, 2], [3, 3, 2], [2, 5, 2]))
  const stale = rootItem([1, 1, 4], [2, 5, 2])
  const page = await readRange(list, stale, { skip: 2, take: 3 })
  expect(idsOf(page.entries)).toEqual([4, 3, 2])
  const query = { matches: ({ userId }: ListedMember) => userId % 2 === 1, reserve: async () => undefined }
  expect(idsOf(await readMatches(list, stale, query))).toEqual([5, 3, 1])
})

it('a search within a range of join times reads only the leaves that can have members of that time', async () => {
  serve({ 1: leaf(1, 2), 2: leaf(3, 4), 3: leaf(5, 6) })
  const root = rootItem([1, 1, 2], [2, 3, 2], [3, 5, 2])
  const reserve = vi.fn(async () => undefined)
  const query = { from: 4_000, before: 5_000, matches: () => true, reserve }
  expect(idsOf(await readMatches(list, root, query))).toEqual([4])
  expect(reserve.mock.calls).toEqual([[1]])
})

it('a page of a period reads no leaf that lies before the period', async () => {
  const { readKeys } = serve({ 1: leaf(1, 2), 2: leaf(3, 4), 3: leaf(5, 6) })
  const root = rootItem([1, 1, 2], [2, 3, 2], [3, 5, 2])
  const { total, entries } = await readRange(list, root, { from: 5_500, skip: 0, take: 20 })
  expect([total, idsOf(entries)]).toEqual([1, [6]])
  expect(readKeys).toEqual([keyText(nodeKey(list, 3))])
})

it('a search finds each member once, also in a list of more leaves than one call can read', async () => {
  const numbers = Array.from({ length: 250 }, (_, i) => i + 1)
  serve(Object.fromEntries(numbers.map((number) => [number, leaf(number)])))
  const root = rootItem(...numbers.map((number) => [number, number, 1] as [number, number, number]))
  const found = await readMatches(list, root, { matches: () => true, reserve: async () => undefined })
  expect(idsOf(found)).toEqual(numbers.toReversed())
})

import * as v from 'valibot'
import { itemType } from '../../db/item-type.ts'
import { packRows, unpackRows } from '../../db/packed-rows.ts'
import { Integer, type Item, type Key } from '../../db/table.ts'
import { type SearchText, toSearchText } from '../search/keyword.ts'

/**
 * A counted B-tree keeps a member list sorted by the instant of joining. Leaves hold the members, each with
 * the text that searches compare. A branch has one entry for each child: its first position, and its number
 * of members. So a reader goes straight from the root to any page or date, and a search reads the leaves.
 * Each page of a list of ten million members takes three rounds of reads. A member whose event arrives late
 * is inserted at the right position.
 *
 * Every node is one item of the table. `version` counts the node's writes, and is 0 before the first one. A
 * write fails if the stored version is no longer the one that was read, so no writer overwrites another's
 * change.
 */
export type BTreeNode = BTreeLeaf | BTreeBranch
export interface BTreeLeaf {
  kind: 'leaf'
  version: number
  entries: ListedMember[]
}
export interface BTreeBranch {
  kind: 'branch'
  version: number
  entries: BTreeChild[]
}

/**
 * A member's position in a list. Positions are ordered by the instant of joining, then by user id. They never
 * change and are never removed.
 */
export interface BTreePosition {
  /** Instant of joining, epoch milliseconds. */
  joinedAt: number
  userId: number
}

/** A member in a list: position, and the text that searches compare. */
export interface ListedMember extends BTreePosition {
  text: SearchText
}

/** Creates a member's entry in lists. */
export const toListed = (member: BTreePosition & { nickname: string; email: string }): ListedMember => ({
  joinedAt: member.joinedAt,
  userId: member.userId,
  text: toSearchText(member),
})

/** A branch's entry for a child: position of the first member, number of members, and node id. */
export interface BTreeChild extends BTreePosition {
  count: number
  id: number
}

/** The root node of a list's B-tree, and the id that the next new node gets. */
export interface BTreeRoot {
  node: BTreeNode
  nextId: number
}

/** Maximum number of members in a leaf, and of children in a branch. A full branch has less than 4 KB. */
export const nodeCapacity = 400

/**
 * Maximum size of a leaf's packed members, in bytes. With its key, such a leaf stays below 4 KB, so an
 * eventually consistent read of it costs half a read unit. With usual names, it holds about 200 members, and
 * three levels hold 15 million members or more.
 */
export const maxLeafBytes = 3_900

/** A member list: the direct referrals (DIRECT) or the whole downline (COMMUNITY) of a member. */
export interface MemberList {
  kind: 'DIRECT' | 'COMMUNITY'
  ownerId: number
}

const roots = itemType({
  pk: '{list}#{ownerId}',
  sk: 'ROOT',
  holds: 'the root of a member list: `DIR` for direct referrals, `TEAM` for the whole downline',
  found: 'by list and owner',
})
// Each node has a partition of its own, because a search reads all leaves, and a partition gives 3,000 read
// units a second.
const nodes = itemType({
  pk: '{list}#{ownerId}#{id}',
  sk: 'NODE',
  holds: 'a node of a member list other than its root: in a leaf, the members with their texts for searches',
  found: 'by list, owner and the id in the parent node',
})
/** Names of the two kinds of member lists, as used in the keys of items. */
export const keyName = { DIRECT: 'DIR', COMMUNITY: 'TEAM' }

/** Key of the item of a list's root node. */
export const rootKey = ({ kind, ownerId }: MemberList): Key => roots.key({ list: keyName[kind], ownerId })

/** Key of the item of a B-tree node other than the root. */
export const nodeKey = ({ kind, ownerId }: MemberList, id: number): Key =>
  nodes.key({ list: keyName[kind], ownerId, id })

/** Compares two positions of a member list for sorting, earliest first. */
export const comparePositions = (a: BTreePosition, b: BTreePosition): number =>
  a.joinedAt - b.joinedAt || a.userId - b.userId

/** Binary search: index of the first element whose `compare` is not negative; the length if there is none. */
export function lowerBound<T>(sorted: readonly T[], compare: (element: T) => number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compare(sorted[middle] as T) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** Number of members in a leaf or under a branch. */
export const countMembers = (node: BTreeNode): number =>
  node.kind === 'leaf' ? node.entries.length : node.entries.reduce((sum, { count }) => sum + count, 0)

/** Position of the first member in a leaf or under a branch. Throws for the empty node of an empty list. */
export function firstOf({ entries: [first] }: BTreeNode): BTreePosition {
  if (first === undefined) throw new Error('a node of a list is empty')
  return { joinedAt: first.joinedAt, userId: first.userId }
}

/** Packs the members of a leaf. */
export const packMembers = (members: readonly ListedMember[]): Uint8Array =>
  packRows(members.map(({ joinedAt, userId, text }) => [joinedAt, userId, text.nickname, text.maskedEmail]))

/** Packs a B-tree node into attributes of its item. */
export const packNode = (node: BTreeNode): Item => ({
  kind: node.kind,
  version: node.version,
  packed:
    node.kind === 'leaf'
      ? packMembers(node.entries)
      : packRows(node.entries.map(({ joinedAt, userId, count, id }) => [joinedAt, userId, count, id])),
})

const NodeItem = v.object({
  kind: v.picklist(['leaf', 'branch']),
  packed: v.instance(Uint8Array),
  version: Integer,
})

/** Unpacks a B-tree node from its item. */
export function unpackNode(item: Item): BTreeNode {
  const { kind, packed, version } = v.parse(NodeItem, item)
  if (kind === 'leaf') {
    const rows = unpackRows<[number, number, string, string]>(packed)
    const entries = rows.map(([joinedAt, userId, nickname, maskedEmail]) => ({
      joinedAt,
      userId,
      text: { nickname, maskedEmail },
    }))
    return { kind, version, entries }
  }
  const rows = unpackRows<[number, number, number, number]>(packed)
  const entries = rows.map(([joinedAt, userId, count, id]) => ({ joinedAt, userId, count, id }))
  return { kind, version, entries }
}

/** Packs a list's root into attributes of its item. */
export const packRoot = ({ node, nextId }: BTreeRoot): Item => ({ ...packNode(node), next_id: nextId })

const RootItem = v.object({ next_id: Integer })

/** Unpacks a list's root from its item; without an item, returns the root of an empty list. */
export const unpackRoot = (item: Item | undefined): BTreeRoot =>
  item === undefined
    ? { node: { kind: 'leaf', version: 0, entries: [] }, nextId: 0 }
    : { node: unpackNode(item), nextId: v.parse(RootItem, item).next_id }

import { readItems } from '../../db/read.ts'
import type { Item } from '../../db/table.ts'
import { Failure } from '../../errors.ts'
import { forEachConcurrently } from '../../for-each-concurrently.ts'
import { retry } from '../../retry.ts'
import {
  type BTreeChild,
  type BTreeNode,
  type BTreePosition,
  type BTreeRoot,
  comparePositions,
  countMembers,
  type ListedMember,
  lowerBound,
  type MemberList,
  nodeKey,
  rootKey,
  unpackNode,
  unpackRoot,
} from './node.ts'

/** Range of join times, epoch milliseconds: `from` is included, `before` is not. */
export interface JoinedRange {
  from?: number | undefined
  before?: number | undefined
}

/** Selects members of a list who joined in a range of time, newest first. */
export interface RangeQuery extends JoinedRange {
  /** How many of the newest members in the range to skip. */
  skip: number
  /** Maximum number of members to return. */
  take: number
  /** Whether reads are strongly consistent, as they must be when a worker decides what to write. */
  consistent?: boolean
}

export interface RangeResult {
  /** Number of all members who joined in the range of time, including those that `skip` and `take` omit. */
  total: number
  /** The members to return, newest first. */
  entries: ListedMember[]
}

/** A child node. Its first member has the number `firstRank` in the list. */
interface Subtree extends BTreeChild {
  firstRank: number
}

interface RankedNode {
  node: BTreeNode
  firstRank: number
  /** Number of the node's members according to its parent. The node itself may have more by now. */
  count: number
}

/**
 * Reads the requested members of a list, with one batch of reads for each B-tree level below the root. `root`
 * is the list's root item, possibly from an earlier read. Throws `unavailable` when the list keeps changing.
 */
export const readRange = (
  list: MemberList,
  root: Item | undefined,
  query: RangeQuery,
): Promise<RangeResult> => readUnchanged(list, root, (from) => descend(list, from, query))

/** Finds members whose entries match, among those who joined in a range of time. */
export interface MatchQuery extends JoinedRange {
  matches: (member: ListedMember) => boolean
  /** Is called with the number of nodes that are read next, together with the reads. May throw. */
  reserve: (nodes: number) => Promise<void>
}

/**
 * Finds the members that match, newest first. Reads every leaf with members of the range of time, but keeps
 * the matching members only: a list of a million members has 5,000 leaves, which take 200 MB when unpacked.
 * Throws `unavailable` when the list keeps changing.
 */
export const readMatches = (
  list: MemberList,
  root: Item | undefined,
  query: MatchQuery,
): Promise<ListedMember[]> => readUnchanged(list, root, (from) => match(list, from, query))

/** Reads from the root down. If a node was split after its parent was read, reads everything again. */
async function readUnchanged<Result>(
  list: MemberList,
  root: Item | undefined,
  read: (root: BTreeRoot) => Promise<Result | undefined>,
): Promise<Result> {
  const stale = new Failure('unavailable', { retryAfterSeconds: 1 })
  let item = root
  return retry(
    async () => {
      const result = await read(unpackRoot(item))
      if (result !== undefined) return result
      item = (await readItems([rootKey(list)], { consistent: true }))[0]
      throw stale
    },
    (error) => error === stale,
  )
}

/** Reads the B-tree level by level; returns undefined when a node was split after its parent was read. */
async function descend(
  list: MemberList,
  root: BTreeRoot,
  query: RangeQuery,
): Promise<RangeResult | undefined> {
  const total = countMembers(root.node)
  let level: RankedNode[] = [{ node: root.node, firstRank: 0, count: total }]
  for (;;) {
    const subtrees = level.flatMap(subtreesOf)
    if (subtrees.length === 0) return collect(level, total, query)
    const nodes = await readNodes(list, selectSubtrees(subtrees, total, query), query)
    if (nodes === undefined) return undefined
    level = nodes
  }
}

/** Reads nodes. Returns undefined if one of them was split after its parent was read. */
async function readNodes(
  list: MemberList,
  subtrees: readonly Subtree[],
  { consistent = false }: { consistent?: boolean } = {},
): Promise<RankedNode[] | undefined> {
  const items = await readItems(
    subtrees.map(({ id }) => nodeKey(list, id)),
    { consistent },
  )
  const nodes: RankedNode[] = []
  for (const [i, { firstRank, count }] of subtrees.entries()) {
    const item = items[i]
    const node = item && unpackNode(item)
    if (node === undefined || countMembers(node) < count) return undefined
    nodes.push({ node, firstRank, count })
  }
  return nodes
}

/** Number of nodes that a search reads in one call, and number of its calls at the same time. */
const nodesPerCall = 100
const simultaneousCalls = 8

/** Reads the B-tree level by level; returns undefined when a node was split after its parent was read. */
async function match(
  list: MemberList,
  root: BTreeRoot,
  { from = 0, before = Infinity, matches, reserve }: MatchQuery,
): Promise<ListedMember[] | undefined> {
  const found: ListedMember[] = []
  let staleCalls = 0
  let waiting: Subtree[] = []
  const visit = (ranked: RankedNode) => {
    waiting.push(...subtreesIn(subtreesOf(ranked), from, before))
    if (ranked.node.kind === 'branch') return
    for (const member of ranked.node.entries)
      if (member.joinedAt >= from && member.joinedAt < before && matches(member)) found.push(member)
  }
  visit({ node: root.node, firstRank: 0, count: countMembers(root.node) })
  while (waiting.length > 0 && staleCalls === 0) {
    const subtrees = waiting
    waiting = []
    const calls = Array.from({ length: Math.ceil(subtrees.length / nodesPerCall) }, (_, i) =>
      subtrees.slice(i * nodesPerCall, (i + 1) * nodesPerCall),
    )
    // Refuses before anything is read if the caller's budget is known to be used up.
    const reservation = reserve(subtrees.length)
    const reading = forEachConcurrently(calls, simultaneousCalls, async (some) => {
      const nodes = await readNodes(list, some)
      if (nodes === undefined) staleCalls += 1
      else nodes.forEach(visit)
    })
    await Promise.all([reading, reservation])
  }
  return staleCalls > 0 ? undefined : found.sort((one, other) => comparePositions(other, one))
}

/** The subtrees that can have members who joined in a range of time. */
const subtreesIn = (subtrees: readonly Subtree[], from: number, before: number): Subtree[] =>
  subtrees.filter(({ joinedAt }, i) => joinedAt < before && (subtrees[i + 1]?.joinedAt ?? Infinity) >= from)

function subtreesOf({ node, firstRank }: RankedNode): Subtree[] {
  if (node.kind === 'leaf') return []
  let rank = firstRank
  return node.entries.map((child) => {
    const subtree = { ...child, firstRank: rank }
    rank += child.count
    return subtree
  })
}

/**
 * Selects the subtrees to read next: those that contain the start or the end of the range of time, and those
 * that may hold members to return.
 */
function selectSubtrees(
  subtrees: readonly Subtree[],
  total: number,
  { from, before, skip, take }: RangeQuery,
): Subtree[] {
  const low = subtreeBefore(subtrees, from)
  const high = subtreeBefore(subtrees, before)
  const minEnd = before === undefined ? total : (high?.firstRank ?? 0)
  const maxEnd = before === undefined ? total : minEnd + (high?.count ?? 0)
  const windowEnd = maxEnd - skip
  const windowStart = Math.max(minEnd - skip - take, low?.firstRank ?? 0)
  return subtrees.filter(
    (subtree) =>
      subtree === low ||
      subtree === high ||
      (subtree.firstRank < windowEnd && subtree.firstRank + subtree.count > windowStart),
  )
}

/** Returns the last subtree whose first member joined before an instant; undefined if there is none. */
const subtreeBefore = (subtrees: readonly Subtree[], instant: number | undefined): Subtree | undefined =>
  instant === undefined
    ? undefined
    : subtrees[lowerBound(subtrees, (subtree) => comparePositions(subtree, startOf(instant))) - 1]

/** The position that sorts just before every member who joined at `joinedAt`. */
const startOf = (joinedAt: number): BTreePosition => ({ joinedAt, userId: 0 })

function collect(
  level: readonly RankedNode[],
  total: number,
  { from, before, skip, take }: RangeQuery,
): RangeResult {
  const leaves = level.map(({ node, firstRank, count }) => ({
    firstRank,
    // A leaf may have grown since its parent was read. Only as many members are taken as the parent has
    // counted, because the parent's counts tell the ranks of the members in the following leaves.
    entries: node.kind === 'leaf' ? node.entries.slice(0, count) : [],
  }))
  const rankOf = (instant: number): number => {
    const position = startOf(instant)
    const leaf = leaves.findLast(({ entries: [e] }) => e !== undefined && comparePositions(e, position) < 0)
    if (leaf === undefined) return 0
    return leaf.firstRank + lowerBound(leaf.entries, (entry) => comparePositions(entry, position))
  }
  const low = from === undefined ? 0 : rankOf(from)
  const high = before === undefined ? total : rankOf(before)
  const end = high - skip
  const start = Math.max(low, end - take)
  const entries = leaves.flatMap(({ firstRank, entries }) =>
    entries.slice(Math.max(0, start - firstRank), Math.max(0, end - firstRank)),
  )
  return { total: Math.max(0, high - low), entries: entries.reverse() }
}

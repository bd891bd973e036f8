import { readItems } from '../../db/read.ts'
import type { Item } from '../../db/table.ts'
import { Failure } from '../../errors.ts'
import { retry } from '../../retry.ts'
import {
  type BTreeChild,
  type BTreeNode,
  type BTreePosition,
  type BTreeRoot,
  comparePositions,
  countOf,
  lowerBound,
  type MemberList,
  nodeKey,
  rootKey,
  unpackNode,
  unpackRoot,
} from './node.ts'

/** Selects members of a list who joined in a range of time, newest first. */
export interface RangeQuery {
  /** Range of join times, epoch milliseconds: `from` is included, `before` is not. */
  from?: number | undefined
  before?: number | undefined
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
  /** Positions of the members to return, newest first. */
  entries: BTreePosition[]
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
 * is the list's root item, possibly from an earlier read. If a node was split after its parent was read,
 * reads everything again. Throws `unavailable` when the list keeps changing.
 */
export async function readRange(
  list: MemberList,
  root: Item | undefined,
  query: RangeQuery,
): Promise<RangeResult> {
  const stale = new Failure('unavailable', { retryAfterSeconds: 1 })
  let item = root
  return retry(
    async () => {
      const result = await descend(list, unpackRoot(item), query)
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
  const total = countOf(root.node)
  let level: RankedNode[] = [{ node: root.node, firstRank: 0, count: total }]
  for (;;) {
    const subtrees = level.flatMap(subtreesOf)
    if (subtrees.length === 0) return collect(level, total, query)
    const wanted = selectSubtrees(subtrees, total, query)
    const items = await readItems(
      wanted.map(({ id }) => nodeKey(list, id)),
      { consistent: query.consistent ?? false },
    )
    level = []
    for (const [i, { firstRank, count }] of wanted.entries()) {
      const item = items[i]
      if (item === undefined) return undefined
      const node = unpackNode(item)
      if (countOf(node) < count) return undefined
      level.push({ node, firstRank, count })
    }
  }
}

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
    // The leaf may have grown since its parent was read. Take only the members that the parent has counted.
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

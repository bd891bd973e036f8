import { Failure } from '../../errors.ts'
import { readItems } from '../../db/read.ts'
import type { Item } from '../../db/table.ts'
import { comparePositions, countBefore, type BTreeEntry, type BTreePosition } from './entry.ts'
import {
  countOf,
  type List,
  type BTreeNode,
  nodeKey,
  type BTreeRoot,
  rootKey,
  unpackNode,
  unpackRoot,
} from './node.ts'

/** Which members of a list are wanted: those who joined in a span of time, newest first, some of them. */
export interface RangeQuery {
  /** First instant of joining, epoch milliseconds. */
  from?: number | undefined
  /** First instant after the last one. */
  before?: number | undefined
  /** How many of the newest to leave out. */
  skip: number
  /** How many to return at most. */
  take: number
}

export interface Range {
  /** How many members joined in the span. */
  total: number
  /** Newest first. */
  entries: BTreeEntry[]
}

/** A part of a list that is known by its rank and size: a node still to be read, or a leaf that was. */
interface Span {
  /** Rank of its first member, counted from the earliest of the list. */
  start: number
  count: number
  first: BTreePosition
  id: number
}

/** Ways down before a list that keeps changing under the reader is given up. */
const attempts = 4

/**
 * Reads a page of a list, with one batch of reads for each level below the top, whatever the page and the dates: the ranks of
 * both dates are looked for while the nodes that the page may stand in, given where the dates may fall, are read.
 *
 * `top` is the list's root item, which may have been read together with the session. The reads are not one snapshot: where
 * a node turns out to have been split since its parent was read, the way down begins anew.
 */
export async function readRange(list: List, top: Item | undefined, query: RangeQuery): Promise<Range> {
  let item = top
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const range = await descend(list, unpackRoot(item), query)
    if (range !== undefined) return range
    item = (await readItems([rootKey(list)], { consistent: true }))[0]
  }
  throw new Failure('unavailable', { retryAfterSeconds: 1 })
}

async function descend(list: List, root: BTreeRoot, query: RangeQuery): Promise<Range | undefined> {
  let nodes: { node: BTreeNode; start: number; count: number }[] = [
    { node: root.node, start: 0, count: countOf(root.node) },
  ]
  const total = countOf(root.node)
  for (;;) {
    const spans = nodes.flatMap(({ node, start }) => (node.kind === 'branch' ? spansOf(node, start) : []))
    if (spans.length === 0) return collect(nodes, total, query)
    const wanted = choose(spans, total, query)
    const items = await readItems(wanted.map(({ id }) => nodeKey(list, id)))
    nodes = []
    for (const [i, { start, count }] of wanted.entries()) {
      const item = items[i]
      if (item === undefined) return undefined
      const node = unpackNode(item)
      if (countOf(node) < count) return undefined
      nodes.push({ node, start, count })
    }
  }
}

function spansOf(node: BTreeNode & { kind: 'branch' }, start: number): Span[] {
  let rank = start
  return node.children.map(({ first, count, id }) => {
    const span = { start: rank, count, first, id }
    rank += count
    return span
  })
}

/** The spans in which a date falls, and those that the page may reach into wherever in them the dates fall. */
function choose(spans: readonly Span[], total: number, { from, before, skip, take }: RangeQuery): Span[] {
  const low = spanOfInstant(spans, from)
  const high = spanOfInstant(spans, before)
  const latest = before === undefined ? total : high === undefined ? 0 : high.start + high.count
  const earliest = before === undefined ? total : (high?.start ?? 0)
  const end = latest - skip
  const start = Math.max(earliest - skip - take, low?.start ?? 0)
  return spans.filter(
    (span) => span === low || span === high || (span.start < end && span.start + span.count > start),
  )
}

/** The span in which the members who joined before an instant end; undefined where there are none. */
function spanOfInstant(spans: readonly Span[], instant: number | undefined): Span | undefined {
  if (instant === undefined) return undefined
  return spans[countBefore(spans, ({ first }) => comparePositions(first, firstAt(instant))) - 1]
}

/** The position before everybody who joined at an instant. */
const firstAt = (instant: number): BTreePosition => ({ joinedAt: instant, userId: 0 })

/** The page out of the leaves that were read, each member at their rank. */
function collect(
  leaves: readonly { node: BTreeNode; start: number; count: number }[],
  total: number,
  { from, before, skip, take }: RangeQuery,
): Range {
  const known = leaves.map(({ node, start, count }) => ({
    start,
    entries: node.kind === 'leaf' ? node.entries.slice(0, count) : [],
  }))
  const rankOf = (instant: number): number => {
    const leaf = known.findLast(
      ({ entries: [first] }) => first !== undefined && comparePositions(first, firstAt(instant)) < 0,
    )
    if (leaf === undefined) return 0
    return leaf.start + countBefore(leaf.entries, (entry) => comparePositions(entry, firstAt(instant)))
  }
  const low = from === undefined ? 0 : rankOf(from)
  const high = before === undefined ? total : rankOf(before)
  const end = high - skip
  const start = Math.max(low, end - take)
  const entries = known.flatMap((leaf) =>
    leaf.entries.slice(Math.max(0, start - leaf.start), Math.max(0, end - leaf.start)),
  )
  return { total: Math.max(0, high - low), entries: entries.reverse() }
}

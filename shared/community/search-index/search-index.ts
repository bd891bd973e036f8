import { readItems } from '../../db/read.ts'
import type { Item, Key } from '../../db/table.ts'
import { type BTreePosition, comparePositions, type MemberList } from '../counted-b-tree/node.ts'
import { type Keyword, matchesText } from '../keyword.ts'
import type { ReserveUnits } from '../search-budget.ts'
import { type SearchIndex, type Segment, segmentMembersKeys, tailKeys } from './index-head.ts'
import { unpackMembers } from './members-item.ts'
import { planMatches, type SegmentMatches } from './read-matches.ts'
import { countOf, rangesOfWindow } from './search-window.ts'
import { blockKey, blockOf, nameOf, unpackBlock } from './term-block.ts'
import { termOf } from './terms.ts'

/** A window of the members who match a keyword and joined in a range of time, newest first. */
export interface SearchQuery {
  keyword: Keyword
  /** Start and end (not included) of the range of joining, epoch milliseconds. */
  from?: number | undefined
  before?: number | undefined
  skip: number
  take: number
  /** Number of members of the list; an index that has fewer is not searched. */
  count: number
  /** Looks up another member who is found, if there is one. */
  findOther: () => Promise<BTreePosition | undefined>
  reserve: ReserveUnits
  /** Whether to read strongly consistent. */
  consistent: boolean
}

export interface SearchResult {
  /** Number of members who match. */
  total: number
  /** Positions of those in the window, newest first. */
  entries: BTreePosition[]
}

/** Read units of an eventually consistent read of an item of up to 4 KB. */
const itemUnits = 0.5

/**
 * Read units of everything else that a search reads: the session, the caller's items, the members of the
 * window, and a page of 20 members with the notes on them.
 */
const otherUnits = 60

/**
 * Finds members by a list's search index, in two rounds of reads. The first reads the tail, a block of terms
 * of each segment, and all members of the segments that a date cuts; the second reads the members of the
 * window. Resolves with undefined if items have been replaced since the index was read, or if it lacks
 * members of the list.
 */
export async function searchIndex(
  list: MemberList,
  index: SearchIndex,
  query: SearchQuery,
): Promise<SearchResult | undefined> {
  const { keyword, from = 0, before = Infinity, consistent } = query
  const term = termOf(keyword.folded)
  const isIn = ({ joinedAt }: BTreePosition) => joinedAt >= from && joinedAt < before
  const segments = index.segments.filter((s) => s.newest.joinedAt >= from && s.oldest.joinedAt < before)
  const isWhole = ({ oldest, newest }: Segment) => isIn(oldest) && isIn(newest)
  const whole = segments.filter(isWhole)
  const memberKeys = [
    ...tailKeys(list, index.tail),
    ...segments
      .filter((segment) => !isWhole(segment))
      .flatMap((segment) => segmentMembersKeys(list, segment)),
  ]
  const keys = [...memberKeys, ...whole.map(({ id, bits }) => blockKey(list, id, blockOf(term, bits)))]
  // The reservation throws at once if the caller is known to have no room for it. Otherwise it is made while
  // the items are read, which saves a round.
  const reservation = query.reserve(otherUnits + keys.length * itemUnits)
  const [items, other] = await Promise.all([readExisting(keys, consistent), query.findOther(), reservation])
  if (items === undefined) return undefined

  const tailLength = index.tail.to - index.tail.from
  const members = items.slice(0, memberKeys.length).map((item) => unpackMembers(item).members)
  const indexed = [
    ...index.segments.map(({ size }) => size),
    ...members.slice(0, tailLength).map((m) => m.length),
  ]
  if (indexed.reduce((sum, size) => sum + size, 0) < query.count) return undefined
  const found: BTreePosition[] = members
    .flat()
    .filter((member) => isIn(member) && matchesText(member.text, keyword))
  if (other !== undefined && isIn(other)) found.push(other)
  found.sort(newestFirst)
  const matches = items.slice(memberKeys.length).flatMap((item, i): SegmentMatches[] => {
    const posting = unpackBlock(item).block.get(nameOf(term))
    return posting === undefined || posting.count === 0 ? [] : [{ segment: whole[i] as Segment, posting }]
  })

  // What a keyword longer than its term matches is known only from all members who match the term.
  const ranges = term.isWhole
    ? rangesOfWindow(found, matches, query)
    : matches.map((match) => ({ ...match, start: 0, end: match.posting.count }))
  const plans = ranges
    .filter(({ start, end }) => start < end)
    .map((range) => planMatches(list, range, keyword))
  const parts = await readExisting(
    plans.flatMap((plan) => plan.keys),
    consistent,
  )
  if (parts === undefined) return undefined
  const selected = plans.flatMap((plan) => plan.select(parts.splice(0, plan.keys.length)))
  const newer = ranges.reduce((sum, { posting, end }) => sum + posting.count - end, 0)
  const skip = query.skip - newer
  return {
    total: found.length + (term.isWhole ? countOf(matches) : selected.length),
    entries: [...found, ...selected].sort(newestFirst).slice(skip, skip + query.take),
  }
}

const newestFirst = (one: BTreePosition, other: BTreePosition): number => comparePositions(other, one)

/** Reads items; undefined if one of them does not exist. */
async function readExisting(keys: readonly Key[], consistent: boolean): Promise<Item[] | undefined> {
  const items = (await readItems(keys, { consistent })).filter((item) => item !== undefined)
  return items.length === keys.length ? items : undefined
}

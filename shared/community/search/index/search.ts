import { readItems } from '../../../db/read.ts'
import type { Item, Key } from '../../../db/table.ts'
import { type BTreePosition, comparePositions, lowerBound, type MemberList } from '../../list/node.ts'
import type { RangeQuery, RangeResult } from '../../list/range.ts'
import { type Keyword, matchesText, termOf } from '../keyword.ts'
import type { ReserveUnits } from '../budget.ts'
import {
  blockKey,
  blockOf,
  findPosting,
  membersKey,
  membersPerItem,
  type Posting,
  type SearchIndex,
  type Segment,
  segmentMembersKeys,
  tailKeys,
  unpackMembers,
} from './items.ts'

/** A query for the members who joined in a range of time and match a keyword. */
export interface SearchQuery extends RangeQuery {
  keyword: Keyword
  /** Number of members of the list. If the index has fewer, it is outdated, and its result is not used. */
  count: number
  /** Finds the member whose full email address is the keyword and whom the index cannot find. */
  findOther: () => Promise<BTreePosition | undefined>
  reserve: ReserveUnits
  consistent: boolean
}

/** Read units of an eventually consistent read of an item of up to 4 KB. */
const itemUnits = 0.5

/** Read units for the session, the caller, and a page of 20 members with their index items and notes. */
const otherUnits = 60

/**
 * Finds the members who match a query. Resolves with undefined if the index lacks members of the list, or if
 * items of the index have been replaced.
 */
export async function searchIndex(
  list: MemberList,
  index: SearchIndex,
  query: SearchQuery,
): Promise<RangeResult | undefined> {
  const { keyword, from = 0, before = Infinity, consistent } = query
  const { term, isWhole: isWholeTerm } = termOf(keyword.folded)
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
  // If the caller's budget is known to be used up, `reserve` throws here, before any read. Otherwise, it
  // writes the reservation in parallel with the reads.
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
    const posting = findPosting(item, term)
    return posting === undefined ? [] : [{ segment: whole[i] as Segment, posting }]
  })

  // A long keyword is looked up by its beginning only, so every match must also be compared with the whole
  // keyword.
  const ranges = isWholeTerm
    ? rangesOfWindow(found, matches, query)
    : matches.map((match) => ({ ...match, start: 0, end: match.posting.count }))
  const wanted = ranges.filter(({ start, end }) => start < end).map(candidatesOf)
  const parts = await readExisting(
    wanted.flatMap(({ segment, numbers }) => numbers.map((number) => membersKey(list, segment.id, number))),
    consistent,
  )
  if (parts === undefined) return undefined
  const selected = wanted.flatMap(({ ranks, numbers, skip, take }) => {
    const stored = new Map(numbers.map((number) => [number, unpackMembers(parts.shift()).members]))
    return ranks
      .flatMap((rank) => stored.get(itemOf(rank))?.[rank % membersPerItem] ?? [])
      .filter(({ text }) => matchesText(text, keyword))
      .slice(skip, skip + take)
  })
  const newer = ranges.reduce((sum, { posting, end }) => sum + posting.count - end, 0)
  const skip = query.skip - newer
  return {
    total: found.length + (isWholeTerm ? countOf(matches) : selected.length),
    entries: [...found, ...selected].sort(newestFirst).slice(skip, skip + query.take),
  }
}

const newestFirst = (one: BTreePosition, other: BTreePosition): number => comparePositions(other, one)

/** Reads items; undefined if one of them does not exist. */
async function readExisting(keys: readonly Key[], consistent: boolean): Promise<Item[] | undefined> {
  const items = (await readItems(keys, { consistent })).filter((item) => item !== undefined)
  return items.length === keys.length ? items : undefined
}

interface SegmentMatches {
  segment: Segment
  posting: Posting
}

/** A range of a segment's matches. Match 0 is the oldest. The match `end` is not included. */
interface MatchRange extends SegmentMatches {
  start: number
  end: number
}

const countOf = (matches: readonly SegmentMatches[]): number =>
  matches.reduce((sum, { posting }) => sum + posting.count, 0)

/**
 * Returns for each segment the range of matches that may be on the requested page. Because segments can
 * overlap in time, some of these matches can be on other pages.
 */
function rangesOfWindow(
  found: readonly BTreePosition[],
  matches: readonly SegmentMatches[],
  { skip, take }: Pick<SearchQuery, 'skip' | 'take'>,
): MatchRange[] {
  const foundAfter = (position: BTreePosition) =>
    lowerBound(found, (other) => comparePositions(position, other))
  return matches.map((match) => {
    const { oldest, newest } = match.segment
    const others = matches.filter((other) => other !== match)
    const surelyNewer = countOf(others.filter(({ segment }) => comparePositions(segment.oldest, newest) > 0))
    const maybeNewer = countOf(others.filter(({ segment }) => comparePositions(segment.newest, oldest) > 0))
    const { count } = match.posting
    const first = Math.min(count, Math.max(0, skip - maybeNewer - foundAfter(oldest)))
    const last = Math.min(count, Math.max(first, skip + take - surelyNewer - foundAfter(newest)))
    return { ...match, start: count - last, end: count - first }
  })
}

const itemOf = (rank: number): number => Math.floor(rank / membersPerItem)

/**
 * Chooses the members to read for a range of matches. They may include matches before the range: `skip` is
 * their number.
 */
function candidatesOf({ segment, posting: { interval, ranks }, start, end }: MatchRange) {
  const first = ranks[Math.floor(start / interval)] ?? 0
  const last = ranks[Math.ceil(end / interval)] ?? segment.size
  const between =
    interval === 1 ? ranks.slice(start, end) : Array.from({ length: last - first }, (_, i) => first + i)
  const numbers = [...new Set(between.map(itemOf))]
  return { segment, ranks: between, numbers, skip: start % interval, take: end - start }
}

import type { Item, Key } from '../../db/table.ts'
import type { MemberList } from '../counted-b-tree/node.ts'
import { type Keyword, matchesText } from '../keyword.ts'
import type { Segment } from './index-head.ts'
import { type IndexedMember, membersKey, membersPerItem, unpackMembers } from './members-item.ts'
import { bracketOf, type Posting } from './posting.ts'

/** Who matches a term in a segment. */
export interface SegmentMatches {
  segment: Segment
  posting: Posting
}

/** Some of the matches in a segment: from index `start` to `end` (not included), the oldest match first. */
export interface MatchRange extends SegmentMatches {
  start: number
  end: number
}

/** The items to read for a range of matches, and how to select these from them. */
export interface MatchesPlan {
  keys: Key[]
  select: (items: readonly Item[]) => IndexedMember[]
}

/**
 * Plans to read a range of matches. Those of a keyword that is longer than its term are compared with the
 * whole keyword, so there may be fewer.
 */
export function planMatches(list: MemberList, range: MatchRange, keyword: Keyword): MatchesPlan {
  const { segment, posting, start, end } = range
  const matches = ({ text }: IndexedMember) => matchesText(text, keyword)
  if (posting.interval === 1) {
    const ranks = posting.ranks.slice(start, end)
    const plan = planItems(list, segment, ranks)
    return { keys: plan.keys, select: (items) => ranks.flatMap(plan.memberAt(items)).filter(matches) }
  }
  const bracket = bracketOf(posting, segment.size, start, end)
  const ranks = Array.from({ length: bracket.end - bracket.start }, (_, i) => bracket.start + i)
  const plan = planItems(list, segment, ranks)
  const skip = bracket.before
  return {
    keys: plan.keys,
    select: (items) =>
      ranks
        .flatMap(plan.memberAt(items))
        .filter(matches)
        .slice(skip, skip + end - start),
  }
}

/** The items that have the members of some ranks. */
function planItems(list: MemberList, segment: Segment, ranks: readonly number[]) {
  const numbers = [...new Set(ranks.map((rank) => Math.floor(rank / membersPerItem)))]
  return {
    keys: numbers.map((number) => membersKey(list, segment.id, number)),
    memberAt: (items: readonly Item[]) => {
      const membersByNumber = new Map(numbers.map((number, i) => [number, unpackMembers(items[i]).members]))
      return (rank: number): IndexedMember[] => {
        const member = membersByNumber.get(Math.floor(rank / membersPerItem))?.[rank % membersPerItem]
        return member === undefined ? [] : [member]
      }
    },
  }
}

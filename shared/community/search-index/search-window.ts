import { type BTreePosition, comparePositions, lowerBound } from '../counted-b-tree/node.ts'
import type { MatchRange, SegmentMatches } from './read-matches.ts'

/** A window of matches, newest first. */
export interface Window {
  skip: number
  take: number
}

/**
 * For each segment the range of its matches that may be in a window over all matches: those in segments,
 * which may overlap in time, and the positions already `found`, newest first. Matches that are newer than a
 * range are newer than the window, those that are older are older than it.
 */
export function rangesOfWindow(
  found: readonly BTreePosition[],
  matches: readonly SegmentMatches[],
  { skip, take }: Window,
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

/** Number of matches in segments. */
export const countOf = (matches: readonly SegmentMatches[]): number =>
  matches.reduce((sum, { posting }) => sum + posting.count, 0)

import { lowerBound } from '../counted-b-tree/node.ts'
import { appendSigned } from '../counted-b-tree/signed-varint.ts'

/**
 * Which members of a segment match a term. Members are named by rank: their index in the segment, oldest
 * first. Of many matches only every `interval`-th is kept, as a bookmark: whoever wants those between two
 * bookmarks compares the texts of the members there. Otherwise `interval` is 1, and `ranks` has all.
 */
export interface Posting {
  /** Number of matches. */
  count: number
  interval: number
  /** Ranks in ascending order; before the i-th, `i * interval` members matched when the segment was built. */
  ranks: number[]
  /** Members that match since then (`by` 1) or no longer (-1); empty if the interval is 1. */
  edits: { rank: number; by: number }[]
}

/** Maximum number of ranks kept, so that a posting has some hundred bytes. */
export const maxRanks = 192

/** Makes a posting of ranks in ascending order. */
export function toPosting(ranks: readonly number[]): Posting {
  const interval = Math.max(1, Math.ceil(ranks.length / maxRanks))
  return { count: ranks.length, interval, ranks: ranks.filter((_, i) => i % interval === 0), edits: [] }
}

/** Changes whether a member matches. The same change again has no effect. */
export function editPosting(posting: Posting, rank: number, matches: boolean): void {
  const { ranks, edits } = posting
  if (posting.interval === 1) {
    const index = ranks.findIndex((other) => other >= rank)
    const at = index === -1 ? ranks.length : index
    if ((ranks[at] === rank) === matches) return
    if (matches) ranks.splice(at, 0, rank)
    else ranks.splice(at, 1)
    posting.count = ranks.length
    return
  }
  const by = matches ? 1 : -1
  if (edits.findLast((edit) => edit.rank === rank)?.by === by) return
  edits.push({ rank, by })
  posting.count += by
}

/** Whether a posting says that exactly these members match, given by their ranks in ascending order. */
export function isPostingOf(posting: Posting, matching: readonly number[]): boolean {
  const { count, interval, ranks, edits } = posting
  if (count !== matching.length) return false
  if (interval === 1) return ranks.every((rank, i) => rank === matching[i])
  const matchesBefore = (rank: number) => lowerBound(matching, (other) => other - rank)
  const matches = (rank: number) => matching[matchesBefore(rank)] === rank
  const lastEdits = new Map(edits.map(({ rank, by }) => [rank, by]))
  return (
    ranks.every((rank, i) => countBefore(posting, i) === matchesBefore(rank)) &&
    [...lastEdits].every(([rank, by]) => matches(rank) === by > 0)
  )
}

/** Number of matches before the i-th rank that a posting keeps. */
const countBefore = ({ interval, ranks, edits }: Posting, i: number): number => {
  const kept = ranks[i] ?? 0
  return i * interval + edits.reduce((sum, { rank, by }) => sum + (rank < kept ? by : 0), 0)
}

/** A range of ranks that has the wanted matches, and how many other matches come first in it. */
export interface Bracket {
  start: number
  end: number
  /** Number of matches in the range before the first wanted one. */
  before: number
}

/** The range of ranks of the matches from index `from` to `to` (not included), the oldest match first. */
export function bracketOf(posting: Posting, size: number, from: number, to: number): Bracket {
  const bracket = { start: 0, end: size, before: from }
  for (const [i, rank] of posting.ranks.entries()) {
    const earlier = countBefore(posting, i)
    if (earlier <= from) Object.assign(bracket, { start: rank, before: from - earlier })
    if (earlier >= to) return { ...bracket, end: rank }
  }
  return bracket
}

/** Appends a posting to packed numbers. */
export function appendPosting(bytes: number[], { count, interval, ranks, edits }: Posting): void {
  appendSigned(bytes, interval === 1 ? ranks.length : -ranks.length)
  if (interval > 1) {
    appendSigned(bytes, interval)
    appendSigned(bytes, count)
    appendSigned(bytes, edits.length)
    for (const { rank, by } of edits) appendSigned(bytes, by * (rank + 1))
  }
  let before = 0
  for (const rank of ranks) {
    appendSigned(bytes, rank - before)
    before = rank
  }
}

/** Reads what appendPosting has appended. */
export function readPosting(read: () => number): Posting {
  const kept = read()
  const interval = kept < 0 ? read() : 1
  const count = kept < 0 ? read() : kept
  const edits = Array.from({ length: kept < 0 ? read() : 0 }, () => {
    const signed = read()
    return { rank: Math.abs(signed) - 1, by: Math.sign(signed) }
  })
  let rank = 0
  return { count, interval, ranks: Array.from({ length: Math.abs(kept) }, () => (rank += read())), edits }
}

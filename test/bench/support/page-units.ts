import { membersPerItem } from '../../../shared/community/search/index/items.ts'
import { standardLimits } from '../../../shared/community/search/index/tail.ts'
import { standardCapacity } from '../../../shared/community/list/node.ts'

/** Read units of an eventually consistent read of this many bytes. */
const units = (bytes: number): number => Math.ceil(bytes / 4096) / 2

const keyBytes = 64

/**
 * Rounds of reads and read units of the most expensive page of members: both dates are given, and the window
 * crosses the edges of nodes.
 */
export function pageUnits(members: number): {
  levels: number
  roundsAfterSession: number
  readUnits: number
} {
  // After arrival in random order, B-tree nodes are two thirds full.
  const leaves = Math.ceil(members / ((standardCapacity.entries * 2) / 3))
  const branches = Math.ceil(leaves / ((standardCapacity.children * 2) / 3))
  const levels = branches > 1 ? 3 : 2
  if (levels === 3 && branches > standardCapacity.children) throw new Error('a fourth level is needed')
  const fullBranch = units(standardCapacity.children * 24 + keyBytes)
  const leaf = units(standardCapacity.entries * 9 + keyBytes)
  const top = units((levels === 3 ? branches : leaves) * 24 + keyBytes)
  // Two nodes for the dates, and up to three that the window may touch while the ranks of the dates are not
  // exact.
  const middle = levels === 3 ? 5 * fullBranch : 0
  const bottom = 5 * leaf
  const ownProfile = units(1024)
  const records = 20 * (units(1024) + units(128))
  return {
    levels,
    roundsAfterSession: levels,
    readUnits: top + ownProfile + middle + bottom + records,
  }
}

/** Bytes of a segment in the item of a search index. */
const segmentBytes = 125

/**
 * Read units of a keyword search in a whole list, with as many segments, and as long a tail, as the worker
 * lets there be, and a page of members in the tail.
 */
export function searchUnits(members: number): number {
  const { segment, tailItems } = standardLimits
  const longTail = tailItems * membersPerItem
  const segments = Math.ceil(members / (Math.floor(segment / longTail) * longTail))
  const records = 20 * (units(1024) + units(128))
  return units(segments * segmentBytes) + (segments + tailItems) * units(1) + records + 2
}

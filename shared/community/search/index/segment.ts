import type { Item, Key } from '../../../db/table.ts'
import { type BTreePosition, type MemberList } from '../../list/node.ts'
import { cellBits, eachTerm, type SearchText } from '../keyword.ts'
import {
  blockKey,
  type IndexedMember,
  membersKey,
  membersPerItem,
  nameOf,
  packBlock,
  packMembers,
  type Posting,
  type Segment,
  type TermBlock,
} from './items.ts'

const rankBits = 15

/** Maximum number of members in a segment. */
export const maxSegment = 2 ** rankBits

/** About how many bytes a block should have: most then stay below the 4 KB of half a read unit. */
const targetBytes = 2_800

/** Prepares a segment of at most `maxSegment` members, sorted by position; `items` makes its items. */
export function prepareSegment(
  list: MemberList,
  id: string,
  members: readonly IndexedMember[],
): { segment: Segment; items: () => Generator<Item & Key> } {
  const cells = sortTerms(members.map(({ text }) => text))
  const sample = cells.filter((_, cell) => cell % 64 === 0)
  const bytes = (packBlock(toBlock(sample), 1)['packed'] as Uint8Array).length * 64
  const bits = Math.min(cellBits, Math.max(0, Math.ceil(Math.log2(bytes / targetBytes))))
  const [oldest, newest] = [positionOf(members[0]), positionOf(members.at(-1))]
  function* items() {
    for (let i = 0; i * membersPerItem < members.length; i += 1) {
      const part = members.slice(i * membersPerItem, (i + 1) * membersPerItem)
      yield { ...membersKey(list, id, i), ...packMembers(part, 1) }
    }
    for (let block = 0; block < 2 ** bits; block += 1)
      yield { ...blockKey(list, id, block), ...packBlock(toBlock(cellsOf(cells, block, bits)), 1) }
  }
  return { segment: { id, size: members.length, bits, oldest, newest }, items }
}

/** Makes some term blocks of a segment anew, given the search texts of its members by rank. */
export function makeBlocks(
  texts: readonly SearchText[],
  bits: number,
  blocks: ReadonlySet<number>,
): Map<number, TermBlock> {
  const isWanted = (cell: number) => blocks.has(cell >>> (cellBits - bits))
  const cells = sortTerms(texts, isWanted)
  return new Map(Array.from(blocks, (block) => [block, toBlock(cellsOf(cells, block, bits))]))
}

function positionOf(member: IndexedMember | undefined): BTreePosition {
  if (member === undefined) throw new Error('a segment has no members')
  const { joinedAt, userId } = member
  return { joinedAt, userId }
}

/** A cell, and its terms with the ranks of their members, in one sorted list of numbers. */
interface SortedCell {
  cell: number
  sorted: Float64Array
}

/** The terms of all texts, by cell. They are sorted as numbers: a million texts would take seconds. */
function sortTerms(
  texts: readonly SearchText[],
  isWanted: (cell: number) => boolean = () => true,
): SortedCell[] {
  const wanted = Array.from({ length: 2 ** cellBits }, (_, cell) => isWanted(cell))
  const ends = new Uint32Array(2 ** cellBits)
  for (const text of texts)
    eachTerm(text, ({ cell }) => {
      if (wanted[cell] === true) ends[cell] = (ends[cell] ?? 0) + 1
    })
  let total = 0
  const starts = ends.map((count) => (total += count) - count)
  ends.set(starts)
  const keys = new Float64Array(total)
  for (const [rank, text] of texts.entries())
    eachTerm(text, ({ cell, print }) => {
      if (wanted[cell] !== true) return
      const end = ends[cell] ?? 0
      keys[end] = print * maxSegment + rank
      ends[cell] = end + 1
    })
  return Array.from(starts, (start, cell) => ({ cell, sorted: keys.subarray(start, ends[cell]).sort() }))
}

/** The cells of a term block. */
function cellsOf(cells: readonly SortedCell[], block: number, bits: number): SortedCell[] {
  const perBlock = 2 ** (cellBits - bits)
  return cells.slice(block * perBlock, (block + 1) * perBlock)
}

function toBlock(cells: readonly SortedCell[]): TermBlock {
  const ranksByName = new Map<number, number[]>()
  for (const { cell, sorted } of cells) {
    let before = -1
    for (const key of sorted) {
      // A text may have a term more than once.
      if (key === before) continue
      before = key
      const name = nameOf({ cell, print: Math.floor(key / maxSegment) })
      const ranks = ranksByName.get(name)
      if (ranks === undefined) ranksByName.set(name, [key % maxSegment])
      else ranks.push(key % maxSegment)
    }
  }
  return new Map(Array.from(ranksByName, ([name, ranks]) => [name, toPosting(ranks)]))
}

/** Maximum number of ranks kept, so that a posting has some hundred bytes. */
const maxRanks = 192

function toPosting(ranks: readonly number[]): Posting {
  const interval = Math.max(1, Math.ceil(ranks.length / maxRanks))
  return { count: ranks.length, interval, ranks: ranks.filter((_, i) => i % interval === 0) }
}

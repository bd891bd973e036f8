import * as v from 'valibot'
import { itemType } from '../../db/item-type.ts'
import { Integer, type Item, type Key } from '../../db/table.ts'
import { keyName, type MemberList } from '../counted-b-tree/node.ts'
import { appendSigned, signedReader } from '../counted-b-tree/signed-varint.ts'
import type { SearchText } from '../keyword.ts'
import { appendPosting, isPostingOf, type Posting, readPosting, toPosting } from './posting.ts'
import { cellBits, eachTerm, printBits, type Term } from './terms.ts'

const termBlocks = itemType({
  // Each block has its own partition, because a search reads one of each segment at once.
  pk: 'FIND#{list}#{ownerId}#{segment}.{block}',
  sk: 'TERMS',
  holds: 'a part of the terms of a segment of a search index: for each, which members match it',
  found: 'by list, segment and the hash of the term',
})

/** A segment has `2 ** bits` term blocks, at most one for each cell. */
export const blockOf = ({ cell }: Pick<Term, 'cell'>, bits: number): number => cell >>> (cellBits - bits)

/** Key of the item of a term block. */
export const blockKey = (list: MemberList, segment: number, block: number): Key =>
  termBlocks.key({ list: keyName[list.kind], ownerId: list.ownerId, segment, block })

/** A term block: its postings by the name of their term. */
export type TermBlock = Map<number, Posting>

/** A term's name in its block. */
export const nameOf = ({ cell, print }: Term): number => cell * 2 ** printBits + print

const BlockItem = v.object({ version: Integer, packed: v.instance(Uint8Array) })

/** Attributes of the item of a term block. */
export function packBlock(block: TermBlock, version: number): Item {
  const bytes: number[] = []
  appendSigned(bytes, block.size)
  let before = 0
  for (const [name, posting] of [...block].sort(([a], [b]) => a - b)) {
    appendSigned(bytes, name - before)
    appendPosting(bytes, posting)
    before = name
  }
  return { version, packed: Uint8Array.from(bytes) }
}

/** Unpacks a term block from its item. */
export function unpackBlock(item: Item): { version: number; block: TermBlock } {
  const { version, packed } = v.parse(BlockItem, item)
  const read = signedReader(packed)
  let name = 0
  const terms = Array.from({ length: read() }, () => {
    name += read()
    return [name, readPosting(read)] as const
  })
  return { version, block: new Map(terms) }
}

/** About how many bytes a block should have: most then stay below the 4 KB of half a read unit. */
const targetBytes = 2_800

/**
 * Prepares the term blocks of a segment, given the search texts of its members by rank, at most `maxSegment`.
 * Their number is `2 ** bits`; each is made when it is asked for, because all of them take much memory.
 */
export function prepareBlocks(texts: readonly SearchText[]): {
  bits: number
  makeBlock: (block: number) => TermBlock
} {
  const cells = sortTerms(texts)
  const sample = cells.filter((_, cell) => cell % 64 === 0)
  const bytes = (packBlock(new Map(sample.flatMap(toPostings)), 1)['packed'] as Uint8Array).length * 64
  const bits = Math.min(cellBits, Math.max(0, Math.ceil(Math.log2(bytes / targetBytes))))
  return { bits, makeBlock: (block) => new Map(cellsOf(cells, block, bits).flatMap(toPostings)) }
}

/**
 * Whether the `2 ** bits` term blocks of a segment say of each term who matches it, given the search texts of
 * the segment's members by rank.
 */
export function areBlocksOf(
  texts: readonly SearchText[],
  bits: number,
  blockAt: (block: number) => TermBlock,
): boolean {
  const cells = sortTerms(texts)
  return Array.from({ length: 2 ** bits }, (_, block) => block).every((number) => {
    const matching = new Map(cellsOf(cells, number, bits).flatMap(ranksByTerm))
    const block = blockAt(number)
    return (
      [...matching.keys()].every((name) => block.has(name)) &&
      [...block].every(([name, posting]) => isPostingOf(posting, matching.get(name) ?? []))
    )
  })
}

/** A cell, and its terms with the ranks of their members, in one sorted list of numbers. */
interface SortedCell {
  cell: number
  sorted: Float64Array
}

const rankBits = 15

/** Maximum number of members in a segment. */
export const maxSegment = 2 ** rankBits

/** The terms of all texts, by cell. They are sorted as numbers: a million texts would take seconds. */
function sortTerms(texts: readonly SearchText[]): SortedCell[] {
  const ends = new Uint32Array(2 ** cellBits)
  for (const text of texts) eachTerm(text, ({ cell }) => (ends[cell] = (ends[cell] ?? 0) + 1))
  let total = 0
  const starts = ends.map((count) => (total += count) - count)
  ends.set(starts)
  const keys = new Float64Array(total)
  for (const [rank, text] of texts.entries())
    eachTerm(text, ({ cell, print }) => {
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

const toPostings = (cell: SortedCell): [name: number, posting: Posting][] =>
  ranksByTerm(cell).map(([name, ranks]) => [name, toPosting(ranks)])

/** The terms of a cell by name, each with the ranks of its members in ascending order. */
function ranksByTerm({ cell, sorted }: SortedCell): [name: number, ranks: number[]][] {
  const ranksByName = new Map<number, number[]>()
  let before = -1
  for (const key of sorted) {
    if (key === before) continue
    before = key
    const name = nameOf({ cell, print: Math.floor(key / maxSegment) })
    const ranks = ranksByName.get(name)
    if (ranks === undefined) ranksByName.set(name, [key % maxSegment])
    else ranks.push(key % maxSegment)
  }
  return [...ranksByName]
}

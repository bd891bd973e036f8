import type { Item, Key } from '../../../db/table.ts'
import { type BTreePosition, type MemberList } from '../../list/node.ts'
import { eachTerm, type SearchText } from '../keyword.ts'
import {
  blockKey,
  blockOf,
  type IndexedMember,
  membersKey,
  membersPerItem,
  packBlock,
  packMembers,
  type Segment,
  toRows,
} from './items.ts'

/** Target size of a term block, in bytes: most blocks then stay below 4 KB and cost half a read unit. */
const targetBytes = 3_000

/** A segment has at most 2^12 term blocks. A sample of terms tells how many it needs. */
const maxBits = 12
const sampleBits = 6

/** Prepares a segment of at most `maxSegment` members, sorted by position, and the items to store for it. */
export function prepareSegment(
  list: MemberList,
  id: string,
  members: readonly IndexedMember[],
): { segment: Segment; items: () => Generator<Item & Key> } {
  const terms = sortTerms(members.map(({ text }) => text))
  const [sample = []] = blocksOf(terms, sampleBits)
  const bytes = packBlock(sample, 1).packed.length * 2 ** sampleBits
  const bits = Math.min(maxBits, Math.max(0, Math.ceil(Math.log2(bytes / targetBytes))))
  const [oldest, newest] = [positionOf(members[0]), positionOf(members.at(-1))]
  function* items() {
    for (let i = 0; i * membersPerItem < members.length; i += 1) {
      const part = members.slice(i * membersPerItem, (i + 1) * membersPerItem)
      yield { ...membersKey(list, id, i), ...packMembers(part, 1) }
    }
    let block = 0
    for (const rows of blocksOf(terms, bits)) {
      yield { ...blockKey(list, id, block), ...packBlock(rows, 1) }
      block += 1
    }
  }
  return { segment: { id, size: members.length, bits, oldest, newest }, items }
}

/** Rebuilds the term blocks whose numbers are in `blocks`. `texts` are all texts of the segment, by rank. */
export const makeBlocks = (
  texts: readonly SearchText[],
  bits: number,
  blocks: ReadonlySet<number>,
): number[][][] => [
  ...blocksOf(
    sortTerms(texts, (term) => blocks.has(blockOf(term, bits))),
    bits,
  ),
]

function positionOf(member: IndexedMember | undefined): BTreePosition {
  if (member === undefined) throw new Error('a segment has no members')
  const { joinedAt, userId } = member
  return { joinedAt, userId }
}

/** Returns the wanted terms as sorted 64-bit numbers: 49 bits of term, 15 bits of position in `texts`. */
function sortTerms(
  texts: readonly SearchText[],
  isWanted: (term: number) => boolean = () => true,
): Uint32Array {
  let count = 0
  for (const text of texts) eachTerm(text, (term) => (count += isWanted(term) ? 1 : 0))
  const words = new Uint32Array(2 * count)
  let end = 0
  for (const [rank, text] of texts.entries())
    eachTerm(text, (term) => {
      if (!isWanted(term)) return
      words[end] = (term % 2 ** 17) * 2 ** 15 + rank
      words[end + 1] = Math.floor(term / 2 ** 17)
      end += 2
    })
  new BigUint64Array(words.buffer).sort()
  return words
}

/** Divides the sorted terms in `words` into `2 ** bits` term blocks, and yields the rows of each block. */
function* blocksOf(words: Uint32Array, bits: number): Generator<number[][]> {
  const termAt = (i: number) => (words[i + 1] ?? NaN) * 2 ** 17 + ((words[i] ?? 0) >>> 15)
  let i = 0
  for (let block = 0; block < 2 ** bits; block += 1) {
    const rows: number[][] = []
    for (let term = termAt(i); blockOf(term, bits) === block; term = termAt(i)) {
      const ranks: number[] = []
      for (; termAt(i) === term; i += 2) {
        const rank = (words[i] ?? 0) % 2 ** 15
        // Lists a text once, even if it contains the term several times.
        if (rank !== ranks.at(-1)) ranks.push(rank)
      }
      rows.push(...toRows(term, ranks))
    }
    yield rows
  }
}

import * as v from 'valibot'
import { itemType } from '../../../db/item-type.ts'
import { packRows, unpackRows } from '../../../db/packed-rows.ts'
import { Integer, type Item, type Key } from '../../../db/table.ts'
import { putVersioned, type Write } from '../../../db/write.ts'
import { type BTreePosition, keyName, type MemberList } from '../../list/node.ts'
import { type SearchText, termBits, toSearchText } from '../keyword.ts'

// The items of a search index are its head (see SearchIndex), lists of members, and term blocks. The items
// are spread over many partitions, because a search reads many items at once.

const number = v.pipe(v.number(), v.safeInteger())
const Position = v.object({ joinedAt: number, userId: number })

/** Identifies the items of a segment, which has `size` members and `2 ** bits` term blocks. */
const SegmentItems = v.object({ id: v.string(), size: number, bits: number })
export type SegmentItems = v.InferOutput<typeof SegmentItems>

/** A segment of a search index holds members from `oldest` to `newest`. Two segments can overlap in time. */
const Segment = v.object({ ...SegmentItems.entries, oldest: Position, newest: Position })
export type Segment = v.InferOutput<typeof Segment>

/** Numbers of a tail's items, from `from` to below `to`. Only the last item may have free space. */
const TailRange = v.object({ from: number, to: number })
export type TailRange = v.InferOutput<typeof TailRange>

const Head = v.object({
  segments: v.array(Segment),
  tail: TailRange,
  /** Items that the newest segment has replaced. They are kept for searches that are still running. */
  replaced: v.object({ segments: v.array(SegmentItems), tail: TailRange }),
})

/**
 * A search index finds the members of a list who match a keyword. New members go into the index's tail, which
 * every search reads as a whole. When the tail is long, its members move into a segment, sorted by position.
 * Each segment has a hash table from terms to members. A search reads at most one block of the table.
 */
export interface SearchIndex extends v.InferOutput<typeof Head> {
  version: number
}

/** A search index that has no members yet. */
export const emptyIndex: SearchIndex = {
  version: 0,
  segments: [],
  tail: { from: 0, to: 0 },
  replaced: { segments: [], tail: { from: 0, to: 0 } },
}

const heads = itemType({
  pk: 'FIND#{list}#{ownerId}',
  sk: 'HEAD',
  holds: 'the search index of a member list: its segments, and which items its tail has',
  found: 'by list',
})

/** Key of the head of a list's search index. */
export const indexKey = ({ kind, ownerId }: MemberList): Key => heads.key({ list: keyName[kind], ownerId })

const HeadItem = v.object({ version: Integer, head: v.pipe(v.string(), v.parseJson(), Head) })

/** Parses a search index from its item; undefined without an item. */
export function toIndex(item: Item | undefined): SearchIndex | undefined {
  if (item === undefined) return undefined
  const { version, head } = v.parse(HeadItem, item)
  return { version, ...head }
}

/** The write that stores an index's next version. This write fails if the stored version is not `version`. */
export const putNextIndex = (list: MemberList, { version, ...head }: SearchIndex): Write =>
  putVersioned({ ...indexKey(list), version: version + 1, head: JSON.stringify(head) }, version)

/** A member in a search index: position in the list, and search text. */
export interface IndexedMember extends BTreePosition {
  text: SearchText
}

/** Creates the entry of a member in a search index. */
export const toIndexed = (member: BTreePosition & { nickname: string; email: string }): IndexedMember => ({
  userId: member.userId,
  joinedAt: member.joinedAt,
  text: toSearchText(member),
})

/** Number of members in an item of a search index. With usual names, such an item has about 3.4 KB. */
export const membersPerItem = 192

const memberItems = itemType({
  pk: 'FIND#{list}#{ownerId}#{segment}.{number}',
  sk: 'MEMBERS',
  holds: 'some hundred members of a segment or of the tail of a search index, with their texts, compressed',
  found: 'by list, segment and number',
})

/** Key of an item that holds members of a search index. `segment` is the id of their segment, or `tail`. */
export const membersKey = ({ kind, ownerId }: MemberList, segment: string, number: number): Key =>
  memberItems.key({ list: keyName[kind], ownerId, segment, number })

/** The keys of the items of a search index's tail. */
export const tailKeys = (list: MemberList, { from, to }: TailRange): Key[] =>
  Array.from({ length: to - from }, (_, i) => membersKey(list, 'tail', from + i))

/** The keys of the items that hold a segment's members, in the order of the items' numbers. */
export const segmentMembersKeys = (list: MemberList, { id, size }: SegmentItems): Key[] =>
  Array.from({ length: Math.ceil(size / membersPerItem) }, (_, i) => membersKey(list, id, i))

const PackedItem = v.object({ version: Integer, packed: v.instance(Uint8Array) })

/** Packs members of a search index into attributes of an item. */
export const packMembers = (members: readonly IndexedMember[], version: number): Item => ({
  version,
  packed: packRows(
    members.map(({ userId, joinedAt, text }) => [userId, joinedAt, text.nickname, text.maskedEmail]),
  ),
})

/** Unpacks an item's members and version. Without an item, there are no members, and the version is 0. */
export function unpackMembers(item: Item | undefined): { version: number; members: IndexedMember[] } {
  if (item === undefined) return { version: 0, members: [] }
  const { version, packed } = v.parse(PackedItem, item)
  const members = unpackRows<[number, number, string, string]>(packed).map(
    ([userId, joinedAt, nickname, maskedEmail]) => ({ userId, joinedAt, text: { nickname, maskedEmail } }),
  )
  return { version, members }
}

const termBlocks = itemType({
  pk: 'FIND#{list}#{ownerId}#{segment}.{block}',
  sk: 'TERMS',
  holds: 'a part of the terms of a segment of a search index: for each, which members match it',
  found: 'by list, segment and the hash of the term',
})

/** Number of the block that has a term; blocks are numbered from 0. */
export const blockOf = (term: number, bits: number): number => Math.floor(term / 2 ** (termBits - bits))

/** Key of the item of a term block. */
export const blockKey = ({ kind, ownerId }: MemberList, segment: string, block: number): Key =>
  termBlocks.key({ list: keyName[kind], ownerId, segment, block })

/** The keys of all term blocks of a segment. */
export const blockKeys = (list: MemberList, { id, bits }: SegmentItems): Key[] =>
  Array.from({ length: 2 ** bits }, (_, block) => blockKey(list, id, block))

/**
 * The members of a segment who match a term. A member's rank is its index in the segment, oldest first. If
 * many members match, `ranks` has only every `interval`-th of them. A search finds the others by reading the
 * members in between.
 */
export interface Posting {
  count: number
  interval: number
  ranks: number[]
}

/** Maximum number of members in a segment. The rank of a member in its segment has 15 bits. */
export const maxSegment = 2 ** 15

/** Maximum number of member ranks that a block keeps for one search term. All take a few hundred bytes. */
const maxRanks = 192

const intervalOf = (count: number): number => Math.max(1, Math.ceil(count / maxRanks))

/**
 * The rows of a term in a term block: one for each rank that is kept. If ranks are left out, a last row has
 * the number of all matches plus `maxSegment`, which no rank can reach.
 */
export function toRows(term: number, ranks: readonly number[]): number[][] {
  const kept = ranks.filter((_, i) => i % intervalOf(ranks.length) === 0)
  const count = kept.length < ranks.length ? [maxSegment + ranks.length] : []
  return [...kept, ...count].map((rank) => [term, rank])
}

/** Packs the sorted rows of a term block into attributes of the block's item. */
export const packBlock = (rows: readonly number[][], version: number): Item & { packed: Uint8Array } => ({
  version,
  packed: packRows(rows),
})

/** Finds a term in an item. Returns who matches the term; undefined if nobody does. */
export function findPosting(item: Item, term: number): Posting | undefined {
  const rows = unpackRows<[number, number]>(v.parse(PackedItem, item).packed)
  const ranks = rows.flatMap(([name, rank]) => (name === term ? rank : []))
  const last = ranks.at(-1)
  if (last === undefined) return undefined
  const count = last < maxSegment ? ranks.length : last - maxSegment
  return { count, interval: intervalOf(count), ranks: ranks.filter((rank) => rank < maxSegment) }
}

/** How often the item of a term block has been written. */
export const versionOf = (item: Item | undefined): number => v.parse(PackedItem, item).version

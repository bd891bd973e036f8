import { deflateRawSync, inflateRawSync } from 'node:zlib'
import * as v from 'valibot'
import { itemType } from '../../../db/item-type.ts'
import { appendSigned, signedReader } from '../../../db/packed-numbers.ts'
import { Integer, type Item, type Key } from '../../../db/table.ts'
import { putVersioned, type Write } from '../../../db/write.ts'
import { type BTreePosition, keyName, type MemberList } from '../../list/node.ts'
import { cellBits, printBits, type SearchText, type Term, toSearchText } from '../keyword.ts'

// The items of a search index: its head, items with members, and term blocks. Each has its own partition,
// because a search reads many of them at once.

const number = v.pipe(v.number(), v.safeInteger())
const Position = v.object({ joinedAt: number, userId: number })

/** The items of a segment: it has `size` members and `2 ** bits` term blocks. */
const SegmentItems = v.object({ id: v.string(), size: number, bits: number })
export type SegmentItems = v.InferOutput<typeof SegmentItems>

/** A segment of a search index. Members of several segments may have joined in the same time. */
const Segment = v.object({ ...SegmentItems.entries, oldest: Position, newest: Position })
export type Segment = v.InferOutput<typeof Segment>

/** Numbers of the items of a tail; `to` is not included. All but the last one are full. */
const TailRange = v.object({ from: number, to: number })
export type TailRange = v.InferOutput<typeof TailRange>

const Head = v.object({
  segments: v.array(Segment),
  tail: TailRange,
  /** Items that the newest segment has replaced: no search that begins now reads them. */
  replaced: v.object({ segments: v.array(SegmentItems), tail: TailRange }),
})

/**
 * The search index of a member list finds who matches a keyword without reading the list. Newcomers come into
 * its tail, which every search reads whole. When the tail is long, its members become a segment: sorted by
 * position, with a hash table of all terms that find them. A search reads one block of each segment's table.
 */
export interface SearchIndex extends v.InferOutput<typeof Head> {
  version: number
}

/** The index of a list before anything is in it. */
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

/** Key of the item of a list's search index. */
export const indexKey = ({ kind, ownerId }: MemberList): Key => heads.key({ list: keyName[kind], ownerId })

const HeadItem = v.object({ version: Integer, head: v.pipe(v.string(), v.parseJson(), Head) })

/** Parses a search index from its item; undefined without one. */
export function toIndex(item: Item | undefined): SearchIndex | undefined {
  if (item === undefined) return undefined
  const { version, head } = v.parse(HeadItem, item)
  return { version, ...head }
}

/** The write of a search index as its next version; fails if the stored one is not `index.version`. */
export const putNextIndex = (list: MemberList, { version, ...head }: SearchIndex): Write =>
  putVersioned({ ...indexKey(list), version: version + 1, head: JSON.stringify(head) }, version)

/** A member in a search index: position in the list, and search text. */
export interface IndexedMember extends BTreePosition {
  text: SearchText
}

/** A member as search indexes keep it. */
export const toIndexed = (member: BTreePosition & { nickname: string; email: string }): IndexedMember => ({
  userId: member.userId,
  joinedAt: member.joinedAt,
  text: toSearchText(member),
})

/** Number of members in an item, except the last one of a segment: about 3.4 KB with usual names. */
export const membersPerItem = 192

const memberItems = itemType({
  pk: 'FIND#{list}#{ownerId}#{segment}.{number}',
  sk: 'MEMBERS',
  holds: 'some hundred members of a segment or of the tail of a search index, with their texts, compressed',
  found: 'by list, segment and number',
})

/** Key of an item with members; those of the tail are in the segment `tail`. */
export const membersKey = ({ kind, ownerId }: MemberList, segment: string, number: number): Key =>
  memberItems.key({ list: keyName[kind], ownerId, segment, number })

/** The keys of the items of the tail. */
export const tailKeys = (list: MemberList, { from, to }: TailRange): Key[] =>
  Array.from({ length: to - from }, (_, i) => membersKey(list, 'tail', from + i))

/** The keys of the items with a segment's members, by number. */
export const segmentMembersKeys = (list: MemberList, { id, size }: SegmentItems): Key[] =>
  Array.from({ length: Math.ceil(size / membersPerItem) }, (_, i) => membersKey(list, id, i))

const PackedItem = v.object({ version: Integer, packed: v.instance(Uint8Array) })

/** Attributes of an item with members. Packed by column, because like compresses best beside like. */
export function packMembers(members: readonly IndexedMember[], version: number): Item {
  const columns = [
    members.map(({ userId }, i) => userId - (members[i - 1]?.userId ?? 0)),
    members.map(({ joinedAt }, i) => joinedAt - (members[i - 1]?.joinedAt ?? 0)),
    members.map(({ text }) => text.nickname),
    members.map(({ text }) => text.maskedEmail),
  ]
  return { version, packed: deflateRawSync(JSON.stringify(columns), { level: 9 }) }
}

/** Unpacks the members of an item, and how often it has been written; none without an item. */
export function unpackMembers(item: Item | undefined): { version: number; members: IndexedMember[] } {
  if (item === undefined) return { version: 0, members: [] }
  const { version, packed } = v.parse(PackedItem, item)
  const [userIds, instants, nicknames, maskedEmails] = JSON.parse(inflateRawSync(packed).toString()) as [
    number[],
    number[],
    string[],
    string[],
  ]
  let userId = 0
  let joinedAt = 0
  const members = userIds.map((difference, i) => {
    userId += difference
    joinedAt += instants[i] ?? 0
    return { userId, joinedAt, text: { nickname: nicknames[i] ?? '', maskedEmail: maskedEmails[i] ?? '' } }
  })
  return { version, members }
}

const termBlocks = itemType({
  pk: 'FIND#{list}#{ownerId}#{segment}.{block}',
  sk: 'TERMS',
  holds: 'a part of the terms of a segment of a search index: for each, which members match it',
  found: 'by list, segment and the hash of the term',
})

/** A segment has `2 ** bits` term blocks, at most one for each cell. */
export const blockOf = ({ cell }: Pick<Term, 'cell'>, bits: number): number => cell >>> (cellBits - bits)

/** Key of the item of a term block. */
export const blockKey = ({ kind, ownerId }: MemberList, segment: string, block: number): Key =>
  termBlocks.key({ list: keyName[kind], ownerId, segment, block })

/** The keys of all term blocks of a segment. */
export const blockKeys = (list: MemberList, { id, bits }: SegmentItems): Key[] =>
  Array.from({ length: 2 ** bits }, (_, block) => blockKey(list, id, block))

/**
 * Which members of a segment match a term. Members are named by rank: their index in the segment, oldest
 * first. Of many matches only every `interval`-th is kept, as a bookmark: whoever wants those between two
 * bookmarks compares the texts of the members there. Otherwise `interval` is 1, and `ranks` has all.
 */
export interface Posting {
  /** Number of matches. */
  count: number
  interval: number
  /** Ranks in ascending order; `i * interval` members match before the i-th. */
  ranks: number[]
}

/** A term block: its postings by the name of their term. */
export type TermBlock = Map<number, Posting>

/** A term's name in its block. */
export const nameOf = ({ cell, print }: Term): number => cell * 2 ** printBits + print

/** Attributes of the item of a term block. */
export function packBlock(block: TermBlock, version: number): Item {
  const bytes: number[] = []
  appendSigned(bytes, block.size)
  let before = 0
  for (const [name, { count, interval, ranks }] of [...block].sort(([a], [b]) => a - b)) {
    appendSigned(bytes, name - before)
    before = name
    // A negative number of ranks says that interval and count follow, which most postings do not need.
    appendSigned(bytes, interval === 1 ? ranks.length : -ranks.length)
    if (interval > 1) for (const value of [interval, count]) appendSigned(bytes, value)
    for (const [i, rank] of ranks.entries()) appendSigned(bytes, rank - (ranks[i - 1] ?? 0))
  }
  return { version, packed: Uint8Array.from(bytes) }
}

/** Unpacks a term block from its item, and how often it has been written. */
export function unpackBlock(item: Item): { version: number; block: TermBlock } {
  const { version, packed } = v.parse(PackedItem, item)
  const read = signedReader(packed)
  let name = 0
  const postings = Array.from({ length: read() }, (): [number, Posting] => {
    name += read()
    const kept = read()
    const interval = kept < 0 ? read() : 1
    const count = kept < 0 ? read() : kept
    let rank = 0
    return [name, { count, interval, ranks: Array.from({ length: Math.abs(kept) }, () => (rank += read())) }]
  })
  return { version, block: new Map(postings) }
}

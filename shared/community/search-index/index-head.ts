import * as v from 'valibot'
import { itemType } from '../../db/item-type.ts'
import { readItems } from '../../db/read.ts'
import { Integer, type Item, type Key } from '../../db/table.ts'
import { putVersioned, type Write } from '../../db/write.ts'
import { type BTreePosition, keyName, type MemberList } from '../counted-b-tree/node.ts'
import { blockKey } from './term-block.ts'
import { membersKey, membersPerItem } from './members-item.ts'

/**
 * The search index of a member list finds who matches a keyword without reading the list. Newcomers come into
 * its tail, which every search reads whole. When the tail is long, its members become a segment: sorted by
 * position, with a hash table of all terms that find them. A search reads one block of each segment's table.
 */
export interface SearchIndex {
  version: number
  /** Id of the next new segment. */
  nextId: number
  segments: Segment[]
  /** Numbers of the items of the tail; `to` is not included. All but the last one are full. */
  tail: TailRange
  /** While members who joined before are added: the position of the last one. Not searched meanwhile. */
  backfilled: BTreePosition | undefined
  /** Items that no search reads any more, or that an interrupted worker has left. */
  leftovers: { segments: Pick<Segment, 'id' | 'size' | 'bits'>[]; tail: TailRange }
}

export interface TailRange {
  from: number
  to: number
}

/** A segment of a search index. Members of several segments may have joined in the same time. */
export interface Segment {
  id: number
  /** Number of members. */
  size: number
  /** It has `2 ** bits` term blocks. */
  bits: number
  oldest: BTreePosition
  newest: BTreePosition
}

/** A list with this many members has a search index; a smaller one is searched member by member. */
export const minIndexed = 800

const heads = itemType({
  pk: 'FIND#{list}#{ownerId}',
  sk: 'HEAD',
  holds: 'the search index of a member list: its segments, and which items its tail has',
  found: 'by list',
})

/** Key of the item of a list's search index. */
export const indexKey = ({ kind, ownerId }: MemberList): Key => heads.key({ list: keyName[kind], ownerId })

const number = v.pipe(v.number(), v.safeInteger())
const Position = v.object({ joinedAt: number, userId: number })
const Tail = v.object({ from: number, to: number })
const SegmentItems = v.object({ id: number, size: number, bits: number })
const Head = v.object({
  nextId: number,
  segments: v.array(v.object({ ...SegmentItems.entries, oldest: Position, newest: Position })),
  tail: Tail,
  backfilled: v.optional(Position),
  leftovers: v.object({ segments: v.array(SegmentItems), tail: Tail }),
})
const HeadItem = v.object({ version: Integer, head: v.pipe(v.string(), v.parseJson(), Head) })

/** Parses a search index from its item; undefined without one. */
export function toIndex(item: Item | undefined): SearchIndex | undefined {
  if (item === undefined) return undefined
  const { version, head } = v.parse(HeadItem, item)
  return { ...head, version, backfilled: head.backfilled }
}

/** Reads the search index of a list, strongly consistent; undefined if it has none. */
export const readIndex = async (list: MemberList): Promise<SearchIndex | undefined> =>
  toIndex((await readItems([indexKey(list)], { consistent: true }))[0])

/** The index of a list before anything is in it, in place of one of the given version (0 for none). */
export const emptyIndex = (previous: SearchIndex | undefined): SearchIndex => ({
  version: previous?.version ?? 0,
  nextId: previous?.nextId ?? 0,
  segments: [],
  tail: { from: previous?.tail.to ?? 0, to: previous?.tail.to ?? 0 },
  backfilled: { joinedAt: -1, userId: -1 },
  leftovers: {
    segments: [...(previous?.segments ?? []), ...(previous?.leftovers.segments ?? [])],
    tail: { from: previous?.leftovers.tail.from ?? 0, to: previous?.tail.to ?? 0 },
  },
})

/** The item of a search index. */
export const indexItem = (list: MemberList, { version, ...head }: SearchIndex): Item & Key => ({
  ...indexKey(list),
  version,
  head: JSON.stringify(head),
})

/** The write of a search index as its next version; fails if the stored one is not `index.version`. */
export const putNextIndex = (list: MemberList, index: SearchIndex): Write =>
  putVersioned(indexItem(list, { ...index, version: index.version + 1 }), index.version)

/** The keys of the items of the tail. */
export const tailKeys = (list: MemberList, { from, to }: TailRange): Key[] =>
  Array.from({ length: to - from }, (_, i) => membersKey(list, 'tail', from + i))

/** The keys of the items with a segment's members, by number. */
export const segmentMembersKeys = (list: MemberList, { id, size }: Pick<Segment, 'id' | 'size'>): Key[] =>
  Array.from({ length: Math.ceil(size / membersPerItem) }, (_, i) => membersKey(list, id, i))

/** The keys of all items of a segment. */
export const segmentKeys = (list: MemberList, segment: Pick<Segment, 'id' | 'size' | 'bits'>): Key[] => [
  ...segmentMembersKeys(list, segment),
  ...Array.from({ length: 2 ** segment.bits }, (_, block) => blockKey(list, segment.id, block)),
]

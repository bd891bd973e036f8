import * as v from 'valibot'
import { Integer, type Key } from '../../db/table.ts'
import type { BTreeEntry, BTreePosition } from './entry.ts'

/** A child of a branch: where it starts, how many members stand in and under it, and the number of its item. */
export interface BTreeChild {
  first: BTreePosition
  count: number
  id: number
}

/**
 * A node of a list's tree. `version` counts its writes and is 0 for one that was never written: a write demands the version
 * that was read, so no two writers can lose each other's work.
 */
export type BTreeNode = { version: number } & (
  { kind: 'leaf'; entries: BTreeEntry[] } | { kind: 'branch'; children: BTreeChild[] }
)

/** The top of a list, and what its other nodes are numbered from. */
export interface BTreeRoot {
  node: BTreeNode
  /** Number of the next new node. */
  nextId: number
}

/** How much a node holds before it is split in two. */
export interface BTreeShape {
  entries: number
  children: number
}

/**
 * A full leaf stays under 4 KB, one read unit. Branches are wider, so that ten million members stand under three levels:
 * 400 × 400 × 196 = 31 million when filled in order, and still 14 million when filled at random.
 */
export const standardShape: BTreeShape = { entries: 196, children: 400 }

/** A list: the direct referrals or the whole downline of a member. */
export type ListKind = 'DIRECT' | 'COMMUNITY'
export interface List {
  kind: ListKind
  ownerId: number
}

const partition = ({ kind, ownerId }: List): string => `${kind === 'DIRECT' ? 'DIR' : 'TEAM'}#${ownerId}`

/** Key of the top of a list. */
export const rootKey = (list: List): Key => ({ pk: partition(list), sk: 'ROOT' })

/** Key of any other node of a list. */
export const nodeKey = (list: List, id: number): Key => ({ pk: partition(list), sk: `N#${id}` })

/** How many members stand in and under a node. */
export const countOf = (node: BTreeNode): number =>
  node.kind === 'leaf' ? node.entries.length : node.children.reduce((sum, { count }) => sum + count, 0)

/** Position of the first member in or under a node that is not empty. */
export const firstOf = (node: BTreeNode): BTreePosition => {
  const first = node.kind === 'leaf' ? node.entries[0] : node.children[0]?.first
  if (first === undefined) throw new Error('a node of a list is empty')
  return first
}

const entryBytes = 8 + 8 + 4
const childBytes = 8 + 8 + 4 + 4

/** A node as attributes of its item: its members or children packed, for a list is read by the thousand. */
export function packNode(node: BTreeNode): Record<string, unknown> {
  return node.kind === 'leaf'
    ? { kind: 'leaf', packed: packEntries(node.entries), version: node.version }
    : { kind: 'branch', packed: packChildren(node.children), version: node.version }
}

function packEntries(entries: readonly BTreeEntry[]): Uint8Array {
  const packed = Buffer.alloc(entries.length * entryBytes)
  entries.forEach(({ joinedAt, userId, chunk }, i) => {
    const at = i * entryBytes
    packed.writeDoubleBE(joinedAt, at)
    packed.writeDoubleBE(userId, at + 8)
    packed.writeUInt32BE(chunk, at + 16)
  })
  return packed
}

function packChildren(children: readonly BTreeChild[]): Uint8Array {
  const packed = Buffer.alloc(children.length * childBytes)
  children.forEach(({ first, count, id }, i) => {
    const at = i * childBytes
    packed.writeDoubleBE(first.joinedAt, at)
    packed.writeDoubleBE(first.userId, at + 8)
    packed.writeUInt32BE(count, at + 16)
    packed.writeUInt32BE(id, at + 20)
  })
  return packed
}

const NodeItem = v.object({
  kind: v.picklist(['leaf', 'branch']),
  packed: v.instance(Uint8Array),
  version: Integer,
})

/** A node out of its item. */
export function unpackNode(item: Record<string, unknown>): BTreeNode {
  const { kind, packed, version } = v.parse(NodeItem, item)
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength)
  return kind === 'leaf'
    ? { kind, version, entries: unpackEntries(view) }
    : { kind, version, children: unpackChildren(view) }
}

const positionAt = (view: DataView, at: number): BTreePosition => ({
  joinedAt: view.getFloat64(at),
  userId: view.getFloat64(at + 8),
})

function unpackEntries(view: DataView): BTreeEntry[] {
  const entries: BTreeEntry[] = []
  for (let at = 0; at < view.byteLength; at += entryBytes) {
    entries.push({
      joinedAt: view.getFloat64(at),
      userId: view.getFloat64(at + 8),
      chunk: view.getUint32(at + 16),
    })
  }
  return entries
}

function unpackChildren(view: DataView): BTreeChild[] {
  const children: BTreeChild[] = []
  for (let at = 0; at < view.byteLength; at += childBytes) {
    children.push({
      first: positionAt(view, at),
      count: view.getUint32(at + 16),
      id: view.getUint32(at + 20),
    })
  }
  return children
}

/** The top of a list as attributes of its item. */
export const packRoot = ({ node, nextId }: BTreeRoot): Record<string, unknown> => ({
  ...packNode(node),
  next_id: nextId,
})

const RootItem = v.object({ next_id: Integer })

/** The top of a list out of its item; that of an empty list where there is none. */
export const unpackRoot = (item: Record<string, unknown> | undefined): BTreeRoot =>
  item === undefined
    ? { node: { kind: 'leaf', version: 0, entries: [] }, nextId: 0 }
    : { node: unpackNode(item), nextId: v.parse(RootItem, item).next_id }

import type { Item } from '../../../shared/db/table.ts'
import {
  type BTreeChild,
  type BTreePosition,
  comparePositions,
  countOf,
  firstOf,
  type MemberList,
  type BTreeNode,
  nodeCapacity,
  nodeKey,
  packNode,
  packRoot,
  rootKey,
} from '../../../shared/community/list/node.ts'

/** Builds the items of a member list (a B-tree) with nodes two thirds full, as after random insertions. */
export function packList(list: MemberList, entries: readonly BTreePosition[]): Item[] {
  const items: Item[] = []
  let nextId = 0
  const adopt = (node: BTreeNode): BTreeChild => {
    const child = { ...firstOf(node), count: countOf(node), id: nextId }
    nextId += 1
    items.push({ ...nodeKey(list, child.id), ...packNode(node) })
    return child
  }
  const sorted = [...entries].sort(comparePositions)
  let level: BTreeNode[] = split(sorted, nodeCapacity).map((part) => ({
    kind: 'leaf',
    version: 1,
    entries: part,
  }))
  while (level.length > 1)
    level = split(level.map(adopt), nodeCapacity).map((entries) => ({ kind: 'branch', version: 1, entries }))
  const [node] = level
  return node === undefined ? [] : [...items, { ...rootKey(list), ...packRoot({ node, nextId }) }]
}

function split<T>(things: readonly T[], max: number): T[][] {
  if (things.length <= max) return things.length === 0 ? [] : [[...things]]
  const size = Math.floor((max * 2) / 3)
  return Array.from({ length: Math.ceil(things.length / size) }, (_, i) =>
    things.slice(i * size, (i + 1) * size),
  )
}

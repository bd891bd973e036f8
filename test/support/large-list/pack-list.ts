import type { Item } from '../../../shared/db/table.ts'
import {
  type BTreeChild,
  comparePositions,
  countMembers,
  firstOf,
  type ListedMember,
  maxLeafBytes,
  type MemberList,
  type BTreeNode,
  nodeCapacity,
  nodeKey,
  packMembers,
  packNode,
  packRoot,
  rootKey,
} from '../../../shared/community/list/node.ts'

/** Builds the items of a member list (a B-tree) with full leaves, as when members join in order. */
export function packList(list: MemberList, members: readonly ListedMember[]): Item[] {
  const items: Item[] = []
  let nextId = 0
  const adopt = (node: BTreeNode): BTreeChild => {
    const child = { ...firstOf(node), count: countMembers(node), id: nextId }
    nextId += 1
    items.push({ ...nodeKey(list, child.id), ...packNode(node) })
    return child
  }
  const sorted = [...members].sort(comparePositions)
  let level: BTreeNode[] = fillLeaves(sorted).map((entries) => ({ kind: 'leaf', version: 1, entries }))
  while (level.length > 1)
    level = split(level.map(adopt), nodeCapacity).map((entries) => ({ kind: 'branch', version: 1, entries }))
  const [node] = level
  return node === undefined ? [] : [...items, { ...rootKey(list), ...packRoot({ node, nextId }) }]
}

/** Divides members into leaves, each as full as a leaf gets before it is split. */
function fillLeaves(members: readonly ListedMember[]): ListedMember[][] {
  const leaves: ListedMember[][] = []
  for (let start = 0; start < members.length;) {
    let [fitting, tooMany] = [1, nodeCapacity + 1]
    while (tooMany - fitting > 1) {
      const middle = (fitting + tooMany) >>> 1
      if (packMembers(members.slice(start, start + middle)).length <= maxLeafBytes) fitting = middle
      else tooMany = middle
    }
    leaves.push(members.slice(start, start + fitting))
    start += fitting
  }
  return leaves
}

function split<T>(things: readonly T[], max: number): T[][] {
  if (things.length <= max) return things.length === 0 ? [] : [[...things]]
  const size = Math.floor((max * 2) / 3)
  return Array.from({ length: Math.ceil(things.length / size) }, (_, i) =>
    things.slice(i * size, (i + 1) * size),
  )
}

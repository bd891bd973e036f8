import { readItem } from '../../db/read.ts'
import type { Key } from '../../db/table.ts'
import { putVersioned, type Write } from '../../db/write.ts'
import { OptimisticLockError } from '../../errors.ts'
import {
  type BTreeChild,
  type BTreeNode,
  type BTreePosition,
  type BTreeRoot,
  comparePositions,
  countOf,
  firstOf,
  lowerBound,
  type MemberList,
  nodeKey,
  packNode,
  packRoot,
  rootKey,
  unpackNode,
  unpackRoot,
} from './node.ts'

const readNow = (key: Key) => readItem(key, { consistent: true })

/**
 * Inserts members into a counted B-tree (see BTreeNode), in memory only. Then `writes` returns the writes of
 * all changed nodes, for a transaction.
 */
export class CountedBTree {
  readonly #list: MemberList
  readonly #capacity: number
  readonly #root: BTreeRoot
  /** Every node that was read or created, except the root, by node id. */
  readonly #nodes = new Map<number, BTreeNode>()
  readonly #changedIds = new Set<number>()
  /** Id of the first node that this object creates; further new nodes get the next ids. */
  readonly #firstNewId: number

  private constructor(list: MemberList, capacity: number, root: BTreeRoot) {
    this.#list = list
    this.#capacity = capacity
    this.#root = root
    this.#firstNewId = root.nextId
  }

  /** Reads the root of a member list's B-tree. Nodes with more than `capacity` entries are split. */
  static async open(list: MemberList, capacity: number): Promise<CountedBTree> {
    return new CountedBTree(list, capacity, unpackRoot(await readNow(rootKey(list))))
  }

  get count(): number {
    return countOf(this.#root.node)
  }

  /** Number of nodes that `writes` would write. */
  get changedNodes(): number {
    return 1 + this.#changedIds.size
  }

  /** Reads the nodes into which members will be inserted, with one round of reads for each level. */
  async prefetch(entries: readonly BTreePosition[]): Promise<void> {
    await Promise.all(
      entries.map(async (entry) => {
        let { node } = this.#root
        while (node.kind === 'branch')
          node = await this.#readNode((node.entries[childIndex(node.entries, entry)] as BTreeChild).id)
      }),
    )
  }

  /** Inserts a member into the list. Throws OptimisticLockError when another worker is writing the list. */
  async insert(entry: BTreePosition): Promise<void> {
    const { node } = this.#root
    const right = await this.#insertInto(node, entry, true)
    if (right === undefined) return
    const left: BTreeNode = { ...node, version: 0 }
    const entries = [this.#addNode(left), this.#addNode(right)]
    this.#root.node = { kind: 'branch', version: node.version, entries }
  }

  /**
   * Inserts a member into a node or its subtree. Returns the new right sibling if the node was split.
   * `isRightmost` says whether the node is the last one of its level.
   */
  async #insertInto(
    node: BTreeNode,
    member: BTreePosition,
    isRightmost: boolean,
  ): Promise<BTreeNode | undefined> {
    let added: number
    if (node.kind === 'leaf') {
      added = lowerBound(node.entries, (other) => comparePositions(other, member))
      node.entries.splice(added, 0, member)
    } else {
      const index = childIndex(node.entries, member)
      const child = node.entries[index] as BTreeChild
      const childNode = await this.#readNode(child.id)
      const isLast = isRightmost && index === node.entries.length - 1
      const right = await this.#insertInto(childNode, member, isLast)
      this.#changedIds.add(child.id)
      Object.assign(child, firstOf(childNode), { count: countOf(childNode) })
      if (right === undefined) return undefined
      added = index + 1
      node.entries.splice(added, 0, this.#addNode(right))
    }
    const { length } = node.entries
    if (length <= this.#capacity) return undefined
    // Most nodes are split at the end of the list, where most members are added. Such a split moves only the
    // newest element, so that earlier nodes stay full. Other nodes are split in the middle.
    const splitAt = isRightmost && added === length - 1 ? added : length >>> 1
    return { ...node, version: 0, entries: node.entries.splice(splitAt) } as BTreeNode
  }

  #addNode(node: BTreeNode): BTreeChild {
    const id = this.#root.nextId
    this.#root.nextId += 1
    this.#nodes.set(id, node)
    this.#changedIds.add(id)
    return { ...firstOf(node), count: countOf(node), id }
  }

  async #readNode(id: number): Promise<BTreeNode> {
    const known = this.#nodes.get(id)
    if (known !== undefined) return known
    const item = await readNow(nodeKey(this.#list, id))
    const node = item && unpackNode(item)
    // An id of `firstNewId` or higher shows that another worker has added nodes since the root was read.
    const hasNewerChildren = node?.kind === 'branch' && node.entries.some(({ id }) => id >= this.#firstNewId)
    if (node === undefined || hasNewerChildren) throw new OptimisticLockError('a list is being written')
    const meanwhile = this.#nodes.get(id)
    if (meanwhile !== undefined) return meanwhile
    this.#nodes.set(id, node)
    return node
  }

  /** Returns the writes of all changed nodes. A write fails if another worker has changed the same node. */
  writes(): Write[] {
    const { node, nextId } = this.#root
    const root = { ...rootKey(this.#list), ...packRoot({ node: nextVersion(node), nextId }) }
    return [
      putVersioned(root, node.version),
      ...[...this.#changedIds].map((id) => {
        const changed = this.#nodes.get(id) as BTreeNode
        const item = { ...nodeKey(this.#list, id), ...packNode(nextVersion(changed)) }
        return putVersioned(item, changed.version)
      }),
    ]
  }
}

const childIndex = (children: readonly BTreeChild[], entry: BTreePosition): number =>
  Math.max(0, lowerBound(children, (child) => comparePositions(child, entry)) - 1)

const nextVersion = (node: BTreeNode): BTreeNode => ({ ...node, version: node.version + 1 })

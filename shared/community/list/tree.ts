import type { Item, Key } from '../../db/table.ts'
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
  type NodeCapacity,
  nodeKey,
  packNode,
  packRoot,
  rootKey,
  unpackNode,
  unpackRoot,
} from './node.ts'

/** Reads an item of the counted B-tree, strongly consistent. */
export type ReadItem = (key: Key) => Promise<Item | undefined>

/** Error: the nodes read of a list do not fit together, because another worker is writing it. Read again. */
export class StaleReadError extends OptimisticLockError {
  override readonly name = 'StaleReadError'
}

/**
 * Inserts members into a counted B-tree (see BTreeNode). Insertions change nodes in memory only; `writes`
 * then returns the writes of all changed nodes, for a transaction.
 */
export class CountedBTree {
  readonly #list: MemberList
  readonly #read: ReadItem
  readonly #capacity: NodeCapacity
  readonly #root: BTreeRoot
  /** All nodes but the root that were read or created, by node id. */
  readonly #nodes = new Map<number, BTreeNode>()
  readonly #changedIds = new Set<number>()
  /** Node ids from this one on belong to nodes that this object creates. */
  readonly #firstNewId: number

  private constructor(list: MemberList, read: ReadItem, capacity: NodeCapacity, root: BTreeRoot) {
    this.#list = list
    this.#read = read
    this.#capacity = capacity
    this.#root = root
    this.#firstNewId = root.nextId
  }

  /** Reads the root of a member list's B-tree. `read` must be strongly consistent. */
  static async open(list: MemberList, read: ReadItem, capacity: NodeCapacity): Promise<CountedBTree> {
    return new CountedBTree(list, read, capacity, unpackRoot(await read(rootKey(list))))
  }

  /** Number of members in the list. */
  get count(): number {
    return countOf(this.#root.node)
  }

  /** How many nodes `writes` would write. */
  get changedNodes(): number {
    return 1 + this.#changedIds.size
  }

  /** Reads the nodes into which members will be inserted, with one round of reads for each level. */
  async prefetch(entries: readonly BTreePosition[]): Promise<void> {
    await Promise.all(
      entries.map(async (entry) => {
        let { node } = this.#root
        while (node.kind === 'branch')
          node = await this.#readNode((node.children[childIndex(node.children, entry)] as BTreeChild).id)
      }),
    )
  }

  /** Inserts a member into the list. Throws StaleReadError when another worker is writing the list. */
  async insert(entry: BTreePosition): Promise<void> {
    const { node } = this.#root
    const right = await this.#insertInto(node, entry, true)
    if (right === undefined) return
    const left: BTreeNode = { ...node, version: 0 }
    this.#root.node = {
      kind: 'branch',
      version: node.version,
      children: [this.#addNode(left), this.#addNode(right)],
    }
  }

  /**
   * Inserts an entry in a node or its subtree. Returns the new right sibling if the node had to be split.
   * `isRightmost` says whether the node is the last one of its level.
   */
  async #insertInto(
    node: BTreeNode,
    entry: BTreePosition,
    isRightmost: boolean,
  ): Promise<BTreeNode | undefined> {
    if (node.kind === 'leaf') {
      const { entries } = node
      const index = lowerBound(entries, (other) => comparePositions(other, entry))
      entries.splice(index, 0, entry)
      if (entries.length <= this.#capacity.entries) return undefined
      const appended = isRightmost && index === entries.length - 1
      const splitOff = entries.splice(splitIndex(entries.length, appended))
      return { kind: 'leaf', version: 0, entries: splitOff }
    }
    const { children } = node
    const index = childIndex(children, entry)
    const child = children[index] as BTreeChild
    const isRightmostChild = isRightmost && index === children.length - 1
    const childNode = await this.#readNode(child.id)
    const right = await this.#insertInto(childNode, entry, isRightmostChild)
    this.#changedIds.add(child.id)
    child.count = countOf(childNode)
    child.first = firstOf(childNode)
    if (right === undefined) return undefined
    children.splice(index + 1, 0, this.#addNode(right))
    if (children.length <= this.#capacity.children) return undefined
    const splitOff = children.splice(splitIndex(children.length, isRightmostChild))
    return { kind: 'branch', version: 0, children: splitOff }
  }

  #addNode(node: BTreeNode): BTreeChild {
    const id = this.#root.nextId
    this.#root.nextId += 1
    this.#nodes.set(id, node)
    this.#changedIds.add(id)
    return { first: firstOf(node), count: countOf(node), id }
  }

  async #readNode(id: number): Promise<BTreeNode> {
    const known = this.#nodes.get(id)
    if (known !== undefined) return known
    const item = await this.#read(nodeKey(this.#list, id))
    const node = item && unpackNode(item)
    // Another worker has created child nodes since the root was read. Our own new nodes would get the same
    // ids.
    const hasNewerChildren = node?.kind === 'branch' && node.children.some(({ id }) => id >= this.#firstNewId)
    if (node === undefined || hasNewerChildren) throw new StaleReadError('a list is being written')
    const meanwhile = this.#nodes.get(id)
    if (meanwhile !== undefined) return meanwhile
    this.#nodes.set(id, node)
    return node
  }

  /** Returns the writes of all changed nodes. Their conditions fail if another worker has written one. */
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

/** Index of the child into which an entry belongs. */
const childIndex = (children: readonly BTreeChild[], entry: BTreePosition): number =>
  Math.max(0, lowerBound(children, ({ first }) => comparePositions(first, entry)) - 1)

/**
 * Where to split a full node: usually in the middle. When the list grows at its end, as it mostly does, only
 * the newest element moves to the new node, so that the earlier nodes stay full.
 */
const splitIndex = (length: number, appended: boolean): number => (appended ? length - 1 : length >>> 1)

const nextVersion = (node: BTreeNode): BTreeNode => ({ ...node, version: node.version + 1 })

import { readItem } from '../../db/read.ts'
import type { Key } from '../../db/table.ts'
import { putVersioned, type Write } from '../../db/write.ts'
import { OptimisticLockError } from '../../errors.ts'
import { isSameText } from '../search/keyword.ts'
import {
  type BTreeChild,
  type BTreeLeaf,
  type BTreeNode,
  type BTreePosition,
  type BTreeRoot,
  comparePositions,
  countMembers,
  firstOf,
  type ListedMember,
  lowerBound,
  maxLeafBytes,
  type MemberList,
  nodeKey,
  packMembers,
  packNode,
  packRoot,
  rootKey,
  unpackNode,
  unpackRoot,
} from './node.ts'

const readNow = (key: Key) => readItem(key, { consistent: true })

/**
 * Inserts members into a counted B-tree (see BTreeNode) and gives them new texts, in memory only. Then
 * `writes` returns the writes of all changed nodes, for a transaction.
 */
export class CountedBTree {
  readonly #list: MemberList
  readonly #capacity: number
  readonly #root: BTreeRoot
  /** Every node that was read or created, except the root, by node id. */
  readonly #nodes = new Map<number, BTreeNode>()
  /** Nodes that are being read, by node id: each is read once, also for many members at the same time. */
  readonly #reads = new Map<number, Promise<BTreeNode>>()
  readonly #changed = new Set<BTreeNode>()
  /** Id of the first node that this object creates; further new nodes get the next ids. */
  readonly #firstNewId: number
  /** Upper bounds of packed sizes, in bytes. They spare packing a leaf again for each new member. */
  readonly #leafBytes = new Map<BTreeNode, number>()

  private constructor(list: MemberList, capacity: number, root: BTreeRoot) {
    this.#list = list
    this.#capacity = capacity
    this.#root = root
    this.#firstNewId = root.nextId
  }

  /**
   * Reads the root of a member list's B-tree. A node with more than `capacity` entries is split, and so is a
   * leaf that packs into more than `maxLeafBytes`.
   */
  static async open(list: MemberList, capacity: number): Promise<CountedBTree> {
    return new CountedBTree(list, capacity, unpackRoot(await readNow(rootKey(list))))
  }

  /** Number of nodes that `writes` would write. */
  get changedNodes(): number {
    return this.#changed.size
  }

  /** Reads the nodes in which members are or will be, with one round of reads for each level. */
  async prefetch(members: readonly BTreePosition[]): Promise<void> {
    await Promise.all(members.map((member) => this.#readLeaf(member)))
  }

  /** Inserts a member into the list. Throws OptimisticLockError when another worker is writing the list. */
  async insert(member: ListedMember): Promise<void> {
    const { node } = this.#root
    const right = await this.#put(node, member, true)
    this.#changed.add(this.#root.node)
    if (right === undefined) return
    this.#changed.delete(node)
    const entries = [this.#addNode({ ...node, version: 0 }), this.#addNode(right)]
    this.#root.node = { kind: 'branch', version: node.version, entries }
    this.#changed.add(this.#root.node)
  }

  /**
   * Gives a member of the list a new text. Does nothing if the member has this text, or is not in the list
   * yet. Throws OptimisticLockError when another worker is writing the list.
   */
  async rename(member: ListedMember): Promise<void> {
    const { entries } = await this.#readLeaf(member)
    const listed = entries[indexIn(entries, member)]
    if (listed === undefined || comparePositions(listed, member) !== 0) return
    if (!isSameText(listed.text, member.text)) await this.insert(member)
  }

  async #readLeaf(position: BTreePosition): Promise<BTreeLeaf> {
    let { node } = this.#root
    while (node.kind === 'branch') node = await this.#readChild(childAt(node.entries, position))
    return node
  }

  /**
   * Puts a member into a node or its subtree, in place of an entry of the same position. Returns the new
   * right sibling if the node was split. `isRightmost` says whether the node is the last one of its level.
   */
  async #put(node: BTreeNode, member: ListedMember, isRightmost: boolean): Promise<BTreeNode | undefined> {
    let added: number
    if (node.kind === 'leaf') {
      added = indexIn(node.entries, member)
      const listed = node.entries[added]
      const isListed = listed !== undefined && comparePositions(listed, member) === 0
      node.entries.splice(added, isListed ? 1 : 0, member)
      this.#changed.add(node)
      if (!this.#isTooLarge(node, member)) return undefined
    } else {
      const child = childAt(node.entries, member)
      const index = node.entries.indexOf(child)
      const childNode = await this.#readChild(child)
      const isLast = isRightmost && index === node.entries.length - 1
      const right = await this.#put(childNode, member, isLast)
      const count = countMembers(childNode)
      if (count !== child.count || right !== undefined) this.#changed.add(node)
      Object.assign(child, firstOf(childNode), { count })
      if (right === undefined) return undefined
      added = index + 1
      node.entries.splice(added, 0, this.#addNode(right))
      if (node.entries.length <= this.#capacity) return undefined
    }
    const { length } = node.entries
    // Most nodes are split at the end of the list, where most members are added. Such a split moves only the
    // newest element, so that earlier nodes stay full. Other nodes are split in the middle.
    const splitAt = isRightmost && added === length - 1 ? added : length >>> 1
    this.#leafBytes.delete(node)
    return { ...node, version: 0, entries: node.entries.splice(splitAt) } as BTreeNode
  }

  #isTooLarge(leaf: BTreeLeaf, added: ListedMember): boolean {
    if (leaf.entries.length === 1) return false
    if (leaf.entries.length > this.#capacity) return true
    let bytes = (this.#leafBytes.get(leaf) ?? Infinity) + Buffer.byteLength(JSON.stringify(added))
    if (bytes > maxLeafBytes) bytes = packMembers(leaf.entries).length
    this.#leafBytes.set(leaf, bytes)
    return bytes > maxLeafBytes
  }

  #addNode(node: BTreeNode): BTreeChild {
    const id = this.#root.nextId
    this.#root.nextId += 1
    this.#nodes.set(id, node)
    this.#changed.add(node)
    return { ...firstOf(node), count: countMembers(node), id }
  }

  async #readChild(child: BTreeChild): Promise<BTreeNode> {
    const known = this.#nodes.get(child.id)
    if (known !== undefined) return known
    const read = this.#reads.get(child.id) ?? this.#readNode(child)
    this.#reads.set(child.id, read)
    return read
  }

  async #readNode({ id, count }: BTreeChild): Promise<BTreeNode> {
    const item = await readNow(nodeKey(this.#list, id))
    const node = item && unpackNode(item)
    // The number of members, or an id of `firstNewId` or higher, shows that another worker has changed the
    // node since the root was read.
    const hasNewerChildren = node?.kind === 'branch' && node.entries.some(({ id }) => id >= this.#firstNewId)
    if (node === undefined || hasNewerChildren || countMembers(node) !== count)
      throw new OptimisticLockError('a list is being written')
    this.#nodes.set(id, node)
    return node
  }

  /**
   * Returns the writes of all changed nodes; none if nothing has changed. A write fails if another worker has
   * changed the same node. The root is always among them, so a change that moves members to another node is
   * never missed.
   */
  writes(): Write[] {
    const { node: root, nextId } = this.#root
    if (this.#changed.size === 0) return []
    return [
      putVersioned(
        { ...rootKey(this.#list), ...packRoot({ node: nextVersion(root), nextId }) },
        root.version,
      ),
      ...[...this.#nodes]
        .filter(([, node]) => this.#changed.has(node))
        .map(([id, node]) =>
          putVersioned({ ...nodeKey(this.#list, id), ...packNode(nextVersion(node)) }, node.version),
        ),
    ]
  }
}

const indexIn = (members: readonly ListedMember[], position: BTreePosition): number =>
  lowerBound(members, (other) => comparePositions(other, position))

/** The child whose subtree has, or would get, the member at a position. */
const childAt = (children: readonly BTreeChild[], position: BTreePosition): BTreeChild =>
  children.findLast((child) => comparePositions(child, position) <= 0) ?? (children[0] as BTreeChild)

const nextVersion = (node: BTreeNode): BTreeNode => ({ ...node, version: node.version + 1 })

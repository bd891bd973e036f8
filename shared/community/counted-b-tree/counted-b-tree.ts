import { putVersioned } from '../../db/write.ts'
import type { Item } from '../../db/table.ts'
import type { Key } from '../../db/table.ts'
import type { Write } from '../../db/write.ts'
import { StaleReadError } from '../overtaken.ts'
import { comparePositions, countBefore, type BTreeEntry } from './entry.ts'
import {
  type BTreeChild,
  countOf,
  firstOf,
  type List,
  type BTreeNode,
  nodeKey,
  packNode,
  packRoot,
  type BTreeRoot,
  rootKey,
  type BTreeShape,
  standardShape,
  unpackNode,
  unpackRoot,
} from './node.ts'

/** Reads an item as it stands now. */
export type ReadItem = (key: Key) => Promise<Item | undefined>

/**
 * A list that is being added to in memory: a counted B+-tree, so that members may join in any order and every member's
 * rank is still known by one way down. Nothing is written before `writes` are.
 */
export class CountedBTree {
  readonly #list: List
  readonly #read: ReadItem
  readonly #shape: BTreeShape
  readonly #root: BTreeRoot
  /** Nodes other than the root that were read or made. */
  readonly #nodes = new Map<number, BTreeNode>()
  readonly #changed = new Set<number>()
  /** Numbers below this were given out when the root was read. */
  readonly #ids: number
  #grown = false

  private constructor(list: List, read: ReadItem, shape: BTreeShape, root: BTreeRoot) {
    this.#list = list
    this.#read = read
    this.#shape = shape
    this.#root = root
    this.#ids = root.nextId
  }

  /** A draft of a list as it stands now. */
  static async open(list: List, read: ReadItem, shape: BTreeShape = standardShape): Promise<CountedBTree> {
    return new CountedBTree(list, read, shape, unpackRoot(await read(rootKey(list))))
  }

  /** Puts a member into their place. */
  async insert(entry: BTreeEntry): Promise<void> {
    this.#grown = true
    const { node } = this.#root
    const right = await this.#insertInto(node, entry, true)
    if (right === undefined) return
    const left: BTreeNode = { ...node, version: 0 }
    this.#root.node = {
      kind: 'branch',
      version: node.version,
      children: [this.#adopt(left), this.#adopt(right)],
    }
  }

  /** Inserts under a node, and gives back what it had to split off to the right. `last` says that it is the last of its level. */
  async #insertInto(node: BTreeNode, entry: BTreeEntry, last: boolean): Promise<BTreeNode | undefined> {
    if (node.kind === 'leaf') {
      const at = countBefore(node.entries, (other) => comparePositions(other, entry))
      node.entries.splice(at, 0, entry)
      const cut = this.#cut(node.entries.length, this.#shape.entries, last && at === node.entries.length - 1)
      return cut === undefined ? undefined : { kind: 'leaf', version: 0, entries: node.entries.splice(cut) }
    }
    const { children } = node
    const at = Math.max(0, countBefore(children, ({ first }) => comparePositions(first, entry)) - 1)
    const child = children[at] as BTreeChild
    const lastChild = last && at === children.length - 1
    const below = await this.#node(child.id)
    this.#changed.add(child.id)
    const right = await this.#insertInto(below, entry, lastChild)
    child.count = countOf(below)
    child.first = firstOf(below)
    if (right === undefined) return undefined
    children.splice(at + 1, 0, this.#adopt(right))
    const cut = this.#cut(children.length, this.#shape.children, lastChild)
    return cut === undefined ? undefined : { kind: 'branch', version: 0, children: children.splice(cut) }
  }

  /**
   * Where to cut a node that holds too much: in the middle, or, where the list grows at its end as it mostly does, before the
   * newest, so that the nodes left behind are full.
   */
  #cut(length: number, most: number, growsAtEnd: boolean): number | undefined {
    if (length <= most) return undefined
    return growsAtEnd ? length - 1 : length >>> 1
  }

  #adopt(node: BTreeNode): BTreeChild {
    const id = this.#root.nextId
    this.#root.nextId += 1
    this.#nodes.set(id, node)
    this.#changed.add(id)
    return { first: firstOf(node), count: countOf(node), id }
  }

  async #node(id: number): Promise<BTreeNode> {
    const known = this.#nodes.get(id)
    if (known !== undefined) return known
    const item = await this.#read(nodeKey(this.#list, id))
    const node = item && unpackNode(item)
    // Children that the root does not know of yet could carry the numbers that this draft gives to its own.
    if (
      node === undefined ||
      (node.kind === 'branch' && node.children.some((child) => child.id >= this.#ids))
    ) {
      throw new StaleReadError('a list is being written')
    }
    this.#nodes.set(id, node)
    return node
  }

  /** The writes that make the draft real, provided that nobody else has written the same nodes meanwhile. */
  writes(): Write[] {
    if (!this.#grown) return []
    const root = { ...this.#root, node: next(this.#root.node) }
    return [
      putVersioned({ ...rootKey(this.#list), ...packRoot(root) }, this.#root.node.version),
      ...[...this.#changed].map((id) => {
        const node = this.#nodes.get(id) as BTreeNode
        return putVersioned({ ...nodeKey(this.#list, id), ...packNode(next(node)) }, node.version)
      }),
    ]
  }
}

const next = (node: BTreeNode): BTreeNode => ({ ...node, version: node.version + 1 })

import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { readItem } from '../db/read.ts'
import { Integer, type Item, type Key } from '../db/table.ts'
import { putVersioned, type Write } from '../db/write.ts'
import { type JournalEntry, packEntries, unpackEntries } from './tree-journal.ts'

const treeHeads = itemType({
  pk: 'TREE#{rootId}',
  sk: 'HEAD',
  holds:
    'the progress of the worker in a tree, its number of search chunks, and which search indexes are due',
  found: 'by root',
})

/** After this time no function of the release before runs any more. */
const releaseMilliseconds = 3_600_000

const ListItem = v.object({ kind: v.picklist(['DIRECT', 'COMMUNITY']), ownerId: Integer })

const HeadItem = v.object({
  version: Integer,
  /** Number of search chunks in the tree, which is the number of the next new one. */
  chunks: Integer,
  /** Number of the newest batch: the instant at which it began, or later. */
  batch_number: v.optional(Integer, () => ({ value: '0' })),
  /** The entries of the batch that has begun and takes several transactions. */
  open: v.optional(
    v.pipe(
      v.instance(Uint8Array),
      v.transform((packed) => unpackEntries(packed)),
    ),
  ),
  /** Sort keys of the entries of a batch that an earlier release has begun, or `openMark`. */
  batch: v.array(v.string()),
  /** How many ancestor updates of that batch are done. */
  done: Integer,
  /** The lists whose search indexes are to be maintained. */
  due: v.optional(v.array(ListItem), []),
  /**
   * From when on indexes may be made, epoch milliseconds. A release without indexes drops it: until the last
   * function of that release has ended, names may change without a journal entry.
   */
  indexable_at: v.optional(Integer, () => ({ value: String(Date.now() + releaseMilliseconds) })),
})

/**
 * The head of a tree: the progress of its worker. Each batch begins and ends with its next version, so of two
 * workers at the same time only one begins a batch, and either may end it.
 */
export type TreeHead = v.InferOutput<typeof HeadItem>

/**
 * Stands for the sort keys of an open batch, which an earlier release cannot go on with: it finds no such
 * entry and tries again later.
 */
const openMark = ['-']

/** The head of a tree of which the worker has done nothing yet. */
export const newHead: TreeHead = {
  version: 0,
  chunks: 0,
  batch_number: 0,
  batch: [],
  done: 0,
  due: [],
  indexable_at: 0,
}

/** Whether the release before has written the head: it numbers no batches. */
export const isOfEarlierRelease = ({ version, batch_number }: TreeHead): boolean =>
  version > 0 && batch_number === 0

/** Whether the search index of some list is to be maintained, and may be. */
export const isIndexDue = ({ due, indexable_at }: TreeHead): boolean =>
  due.length > 0 && Date.now() >= indexable_at

/** Key of the head of a tree. */
export const headKey = (rootId: number): Key => treeHeads.key({ rootId })

/** Parses the head of a tree from its item; that of a new tree without an item. */
export const toHead = (item: Item | undefined): TreeHead =>
  item === undefined ? newHead : v.parse(HeadItem, item)

/** Reads the head of a tree, strongly consistent. */
export const readHead = async (rootId: number): Promise<TreeHead> =>
  toHead(await readItem(headKey(rootId), { consistent: true }))

/** The item of a tree's head. */
export const headItem = (rootId: number, { open, ...head }: TreeHead): Item & Key => ({
  ...headKey(rootId),
  ...head,
  open: open && packEntries(open),
})

/** The write of a tree's head as its next version; fails if the stored one is not `head.version`. */
export const putNextHead = (rootId: number, head: TreeHead): Write =>
  putVersioned(headItem(rootId, { ...head, version: head.version + 1 }), head.version)

/**
 * The head of a tree with a batch that has begun. Batches are numbered by the clock, also after a restore.
 */
export const openBatch = (head: TreeHead, entries: JournalEntry[]): TreeHead => ({
  ...head,
  batch_number: Math.max(head.batch_number + 1, Date.now()),
  open: entries,
  batch: openMark,
})

/** The head of a tree without an open batch. */
export const closeBatch = (head: TreeHead): TreeHead => ({ ...head, open: undefined, batch: [], done: 0 })

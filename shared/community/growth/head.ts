import * as v from 'valibot'
import { itemType } from '../../db/item-type.ts'
import { readItem } from '../../db/read.ts'
import { Integer, type Key } from '../../db/table.ts'
import { putVersioned, type Write } from '../../db/write.ts'
import { EntryAttributes, type JournalEntry, toEntryAttributes } from './journal.ts'

const treeHeads = itemType({
  pk: 'TREE#{rootId}',
  sk: 'HEAD',
  holds:
    'the progress of the worker in a tree: the number of its newest batch, and its entries while it is open',
  found: 'by root',
})

const HeadItem = v.object({
  /** Number of the newest batch: the instant at which it began, or later. */
  version: Integer,
  /** The entries of a batch that takes several transactions and is not finished. */
  open: v.optional(v.array(EntryAttributes)),
})

/**
 * The head of a tree: the progress of its worker. Each batch, and each reorganization of a search index,
 * begins and ends with a higher version, so of two workers at the same time only one writes.
 */
export type TreeHead = v.InferOutput<typeof HeadItem>

/** Key of the head of a tree. */
export const headKey = (rootId: number): Key => treeHeads.key({ rootId })

/** Reads the head of a tree, strongly consistent; one of version 0 before the worker has done anything. */
export async function readHead(rootId: number): Promise<TreeHead> {
  const item = await readItem(headKey(rootId), { consistent: true })
  return item === undefined ? { version: 0 } : v.parse(HeadItem, item)
}

/** The head after another one. Versions follow the clock, so they rise after a restore, too. */
export const nextHead = ({ version }: TreeHead, open?: JournalEntry[]): TreeHead => ({
  version: Math.max(version + 1, Date.now()),
  open,
})

/** The write of a tree's head in place of the one that was read; fails if that is no longer stored. */
export const replaceHead = (rootId: number, read: TreeHead, { version, open }: TreeHead): Write =>
  putVersioned({ ...headKey(rootId), version, open: open?.map(toEntryAttributes) }, read.version)

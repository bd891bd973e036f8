import * as v from 'valibot'
import { putVersioned } from '../db/write.ts'
import { Integer, type Key } from '../db/table.ts'
import type { Write } from '../db/write.ts'
import { treePartition } from './journal.ts'
import { readItem } from '../db/read.ts'

/**
 * How far the work on a tree has come. Every transaction of that work moves the head on by one version, so that of two
 * workers that overlap only one gets through, and a batch that needs several transactions is continued where it stopped.
 */
export interface TreeHead {
  version: number
  /** How many directory chunks the tree has. */
  chunks: number
  /** Journal entries of the batch that has been begun, if any, and how many of its pieces are done. */
  batch: string[]
  done: number
}

const HeadItem = v.object({
  version: Integer,
  chunks: Integer,
  batch: v.array(v.string()),
  done: Integer,
})

const headKey = (rootId: number): Key => ({ pk: treePartition(rootId), sk: 'HEAD' })

/** The head of a tree as it stands now; that of an untouched tree where there is none. */
export async function readHead(rootId: number): Promise<TreeHead> {
  const item = await readItem(headKey(rootId), { consistent: true })
  return item === undefined ? { version: 0, chunks: 0, batch: [], done: 0 } : v.parse(HeadItem, item)
}

/** The write that moves the head on, provided that it has not moved since it was read. */
export const moveHead = (rootId: number, { version, ...rest }: TreeHead): Write =>
  putVersioned({ ...headKey(rootId), ...rest, version: version + 1 }, version)

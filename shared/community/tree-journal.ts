import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { queryFirst, readItem, readItems } from '../db/read.ts'
import { Decimal, Integer, type Item, type Key, toNumberValue } from '../db/table.ts'
import { putVersioned, type Write } from '../db/write.ts'
import { type Big, zero } from '../money.ts'

/**
 * The journal of a referral tree holds what is not yet added to the ancestors: members who joined, purchases,
 * and changes of names and addresses, which search indexes must learn. An event writes an entry in its own
 * transaction and then notifies the tree queue. The queue's worker adds the entry to all ancestors. The
 * worker's last transaction for the entry deletes it, so it takes effect exactly once.
 */
export interface JournalEntry {
  sk: string
  userId: number
  joined: boolean
  renamed: boolean
  /** Amount of the purchase; zero if the entry is about none. */
  amount: Big
}

const EntryItem = v.object({
  sk: v.string(),
  user_id: Integer,
  joined: v.optional(v.boolean(), false),
  renamed: v.optional(v.boolean(), false),
  amount: v.optional(Decimal),
})

const journal = itemType({
  pk: 'TREE#{rootId}',
  sk: 'J#{instant}#{uuid}',
  holds: 'a member who joined, a purchase or a new name that a tree’s ancestors do not show yet',
  found: 'by root, oldest first',
})
const entryKey = (rootId: number, sk: string): Key => ({ pk: journal.partition({ rootId }), sk })

/** The write of a new journal entry. Entries are ordered by their instant, epoch milliseconds. */
export const putJournalEntry = (
  rootId: number,
  userId: number,
  what: { joined: true } | { renamed: true } | { amount: Big },
  at: number,
): Write => ({
  Put: {
    Item: {
      ...journal.key({ rootId, instant: String(at).padStart(16, '0'), uuid: crypto.randomUUID() }),
      user_id: userId,
      ...('amount' in what ? { amount: toNumberValue(what.amount) } : what),
    },
  },
  transient: true,
})

/** The write that deletes a journal entry; its condition fails when the entry has been deleted before. */
export const deleteJournalEntry = (rootId: number, { sk }: JournalEntry): Write => ({
  Delete: { Key: entryKey(rootId, sk), ConditionExpression: 'attribute_exists(pk)' },
})

/** Reads the oldest journal entries of a tree, in order. */
export async function readJournal(rootId: number, limit: number): Promise<JournalEntry[]> {
  const items = await queryFirst(
    {
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':pk': journal.partition({ rootId }), ':prefix': journal.sortKeyPrefix },
      ConsistentRead: true,
    },
    limit,
  )
  return items.map(toEntry)
}

/** Reads the journal entries with these sort keys; undefined if any of them has been deleted. */
export async function readJournalEntries(
  rootId: number,
  sortKeys: readonly string[],
): Promise<JournalEntry[] | undefined> {
  const items = await readItems(
    sortKeys.map((sk) => entryKey(rootId, sk)),
    { consistent: true },
  )
  const entries = items.flatMap((item) => (item === undefined ? [] : [toEntry(item)]))
  return entries.length === sortKeys.length ? entries : undefined
}

function toEntry(item: Item): JournalEntry {
  const { sk, user_id, joined, renamed, amount = zero } = v.parse(EntryItem, item)
  return { sk, userId: user_id, joined, renamed, amount }
}

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
  /** Sort keys of the journal entries of the current batch; empty when none has begun. */
  batch: v.array(v.string()),
  /** How many ancestor updates of the current batch are done. */
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
 * The head of a tree: the progress of its worker. Every transaction of the worker writes the next version. So
 * of two workers at the same time only one succeeds, and an interrupted batch continues where it stopped.
 */
export type TreeHead = v.InferOutput<typeof HeadItem>

/** The head of a tree of which the worker has done nothing yet. */
export const newHead: TreeHead = { version: 0, chunks: 0, batch: [], done: 0, due: [], indexable_at: 0 }

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
export const headItem = (rootId: number, head: TreeHead): Item & Key => ({ ...headKey(rootId), ...head })

/** The write of a tree's head as its next version; fails if the stored one is not `head.version`. */
export const putNextHead = (rootId: number, head: TreeHead): Write =>
  putVersioned(headItem(rootId, { ...head, version: head.version + 1 }), head.version)

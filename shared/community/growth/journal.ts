import * as v from 'valibot'
import { Decimal, toNumberValue } from '../../db/decimal.ts'
import { itemType } from '../../db/item-type.ts'
import { queryFirst, readItem } from '../../db/read.ts'
import { Integer, type Key } from '../../db/table.ts'
import { putVersioned, type Write } from '../../db/write.ts'
import type { Big } from '../../money.ts'

/** The change that a journal entry records: a new member, a new name, or the amount of a purchase. */
export type JournalChange = { joined: true } | { renamed: true } | { amount: Big }

const Entry = v.object({
  sk: v.string(),
  user_id: Integer,
  joined: v.optional(v.boolean()),
  renamed: v.optional(v.boolean()),
  amount: v.optional(Decimal),
})

/**
 * The journal of a referral tree holds the changes that have not reached all ancestors yet: new members,
 * purchases, and new names and addresses. The function that handles an event writes an
 * entry in the event's transaction, then notifies the tree queue. The queue's worker adds the entry to all
 * ancestors, then deletes it (see growTree).
 */
export type JournalEntry = v.InferOutput<typeof Entry>

const journal = itemType({
  pk: 'TREE#{rootId}',
  sk: 'J#{instant}#{uuid}',
  holds: 'a member who joined, a purchase or a new name that a tree’s ancestors do not show yet',
  found: 'by root, oldest first',
})

/** The write that adds an entry to a referral tree's journal. Entries are sorted by the time of writing. */
export const putJournalEntry = (rootId: number, userId: number, what: JournalChange): Write => ({
  Put: {
    Item: {
      ...journal.key({ rootId, instant: String(Date.now()).padStart(16, '0'), uuid: crypto.randomUUID() }),
      user_id: userId,
      ...('amount' in what ? { amount: toNumberValue(what.amount) } : what),
    },
  },
})

/** The write that deletes a journal entry, if the entry exists. */
export const deleteJournalEntry = (rootId: number, { sk }: JournalEntry): Write => ({
  Delete: { Key: { pk: journal.partition({ rootId }), sk } },
})

/** Reads the oldest journal entries of a tree, at most `limit`. */
export async function readJournal(rootId: number, limit: number): Promise<JournalEntry[]> {
  const items = await queryFirst({ ...journal.all({ rootId }), ConsistentRead: true }, limit)
  return items.map((item) => v.parse(Entry, item))
}

const treeHeads = itemType({
  pk: 'TREE#{rootId}',
  sk: 'HEAD',
  holds:
    'the progress of the worker in a tree: the number of its newest batch, and its entries while it is open',
  found: 'by root',
})

const HeadItem = v.object({
  /** The version rises with every write of a tree's head. It is also the number of the open batch. */
  version: Integer,
  /** The journal entries of a batch that is not finished. */
  open: v.optional(v.array(Entry)),
})

/**
 * A referral tree's head is an item with the progress of the tree's worker. Each batch raises the head's
 * version, so only one of two parallel workers can write.
 */
export type TreeHead = v.InferOutput<typeof HeadItem>

const headKey = (rootId: number): Key => treeHeads.key({ rootId })

/** Reads the head of a referral tree. If none has been stored yet, the version is 0. */
export async function readHead(rootId: number): Promise<TreeHead> {
  const item = await readItem(headKey(rootId), { consistent: true })
  return item === undefined ? { version: 0 } : v.parse(HeadItem, item)
}

/**
 * Returns the next head of a referral tree (see TreeHead). Its version comes from the clock, so after a
 * restore from a backup, it is still higher than all earlier versions.
 */
export const nextHead = ({ version }: TreeHead, open?: JournalEntry[]): TreeHead => ({
  version: Math.max(version + 1, Date.now()),
  open,
})

/** The write that replaces a referral tree's head. It fails if the head has changed since it was read. */
export const replaceHead = (rootId: number, read: TreeHead, { version, open }: TreeHead): Write => {
  const entries = open?.map((entry) => ({ ...entry, amount: entry.amount && toNumberValue(entry.amount) }))
  return putVersioned({ ...headKey(rootId), version, open: entries }, read.version)
}

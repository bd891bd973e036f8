import * as v from 'valibot'
import { Decimal, Integer, type Key, toNumberValue } from '../db/table.ts'
import { queryFirst, readItems } from '../db/read.ts'
import type { Write } from '../db/write.ts'
import { Big } from '../money.ts'

/**
 * What still has to be carried up a tree: a member who joined, or a purchase. An entry is written in the transaction of its
 * event and deleted in the one that completes its way up, so it takes effect exactly once.
 */
export interface JournalEntry {
  sk: string
  userId: number
  joined: boolean
  /** The amount of a purchase; zero for one who joined. */
  amount: Big
}

const EntryItem = v.object({
  sk: v.string(),
  user_id: Integer,
  joined: v.optional(v.boolean(), false),
  amount: v.optional(Decimal),
})

/** Partition of what belongs to a tree as a whole. */
export const treePartition = (rootId: number): string => `TREE#${rootId}`

const prefix = 'J#'
const entryKey = (rootId: number, sk: string): Key => ({ pk: treePartition(rootId), sk })

/** The write that enters something into the journal of a tree. */
export const putJournalEntry = (
  rootId: number,
  userId: number,
  what: { joined: true } | { amount: Big },
): Write => ({
  Put: {
    Item: {
      ...entryKey(rootId, `${prefix}${String(Date.now()).padStart(16, '0')}#${crypto.randomUUID()}`),
      user_id: userId,
      ...('amount' in what ? { amount: toNumberValue(what.amount) } : what),
    },
  },
})

/** The write that takes an entry out. */
export const deleteJournalEntry = (rootId: number, { sk }: JournalEntry): Write => ({
  Delete: { Key: entryKey(rootId, sk), ConditionExpression: 'attribute_exists(pk)' },
})

/** Entries of a tree by their sort keys; undefined where one of them is no longer there. */
export async function readEntriesAgain(
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

/** The oldest entries of a tree, in order. */
export async function readJournal(rootId: number, limit: number): Promise<JournalEntry[]> {
  const items = await queryFirst(
    {
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':pk': treePartition(rootId), ':prefix': prefix },
      ConsistentRead: true,
    },
    limit,
  )
  return items.map(toEntry)
}

function toEntry(item: Record<string, unknown>): JournalEntry {
  const { sk, user_id, joined, amount } = v.parse(EntryItem, item)
  return { sk, userId: user_id, joined, amount: amount ?? new Big('0') }
}

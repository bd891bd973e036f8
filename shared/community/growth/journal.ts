import * as v from 'valibot'
import { Decimal, toNumberValue } from '../../db/decimal.ts'
import { itemType } from '../../db/item-type.ts'
import { queryFirst } from '../../db/read.ts'
import { Integer, type Item, type Key } from '../../db/table.ts'
import type { Write } from '../../db/write.ts'
import { type Big, zero } from '../../money.ts'

/** What a journal entry is about. */
export type JournalChange = { joined: true } | { renamed: true } | { amount: Big }

/** Schema of the attributes of a journal entry, in its item and in the head of its tree. */
export const EntryAttributes = v.pipe(
  v.object({
    sk: v.string(),
    user_id: Integer,
    joined: v.optional(v.boolean(), false),
    renamed: v.optional(v.boolean(), false),
    amount: v.optional(Decimal),
  }),
  v.transform(({ user_id: userId, amount = zero, ...entry }) => ({ ...entry, userId, amount })),
)

/**
 * The journal of a referral tree holds what is not yet added to the ancestors: members who joined, purchases,
 * and changes of names and addresses, which search indexes must learn. An event writes an entry in its own
 * transaction and then notifies the tree queue. The queue's worker adds the entry to all ancestors and then
 * deletes it: see growTree.
 */
export type JournalEntry = v.InferOutput<typeof EntryAttributes>

const journal = itemType({
  pk: 'TREE#{rootId}',
  sk: 'J#{instant}#{uuid}',
  holds: 'a member who joined, a purchase or a new name that a tree’s ancestors do not show yet',
  found: 'by root, oldest first',
})

/**
 * The write of a new journal entry about a member of a tree. Entries are ordered by their instant, epoch
 * milliseconds.
 */
export const putJournalEntry = (rootId: number, userId: number, what: JournalChange, at: number): Write => ({
  Put: {
    Item: {
      ...journal.key({ rootId, instant: String(at).padStart(16, '0'), uuid: crypto.randomUUID() }),
      user_id: userId,
      ...('amount' in what ? { amount: toNumberValue(what.amount) } : what),
    },
  },
})

/** The attributes of a journal entry, as EntryAttributes reads them. */
export const toEntryAttributes = ({ sk, userId, joined, renamed, amount }: JournalEntry): Item => ({
  sk,
  user_id: userId,
  ...(joined && { joined }),
  ...(renamed && { renamed }),
  ...(!amount.eq(zero) && { amount: toNumberValue(amount) }),
})

const entryKey = (rootId: number, sk: string): Key => ({ pk: journal.partition({ rootId }), sk })

/** The write that deletes a journal entry, if it is there. */
export const deleteJournalEntry = (rootId: number, { sk }: JournalEntry): Write => ({
  Delete: { Key: entryKey(rootId, sk) },
})

/** Reads the oldest journal entries of a tree, at most `limit`. */
export async function readJournal(rootId: number, limit: number): Promise<JournalEntry[]> {
  const items = await queryFirst(
    {
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: {
        ':pk': journal.partition({ rootId }),
        ':prefix': journal.sortKeyPrefix,
      },
      ConsistentRead: true,
    },
    limit,
  )
  return items.map((item) => v.parse(EntryAttributes, item))
}

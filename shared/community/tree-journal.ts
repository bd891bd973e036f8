import { deflateRawSync, inflateRawSync } from 'node:zlib'
import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { queryFirst, readItems } from '../db/read.ts'
import { Decimal, toNumberValue } from '../db/decimal.ts'
import { Integer, type Item, type Key } from '../db/table.ts'
import type { Write } from '../db/write.ts'
import { Big, zero } from '../money.ts'
import { journalShards, shardName } from './journal-shards.ts'

/**
 * The journal of a referral tree holds what is not yet added to the ancestors: members who joined, purchases,
 * and changes of names and addresses, which search indexes must learn. An event writes an entry in its own
 * transaction and then notifies the tree queue. The queue's worker adds the entry to all ancestors and then
 * deletes it: see propagateToAncestors.
 */
export interface JournalEntry {
  shard: number
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
  pk: 'TREE#{journal}',
  sk: 'J#{instant}#{uuid}',
  holds: 'a member who joined, a purchase or a new name that a tree’s ancestors do not show yet',
  found: 'by root, in a tree that grows fast also by shard (`{rootId}#{shard}`), oldest first',
})
const partitionOf = (rootId: number, shard: number): string =>
  journal.partition({ journal: shardName(rootId, shard) })
const entryKey = (rootId: number, shard: number, sk: string): Key => ({ pk: partitionOf(rootId, shard), sk })

/** What a journal entry is about. */
export type JournalChange = { joined: true } | { renamed: true } | { amount: Big }

/**
 * The write of a new entry in a shard of a journal. Entries are ordered by their instant, epoch
 * milliseconds.
 */
export const putJournalEntry = (
  rootId: number,
  shard: number,
  userId: number,
  what: JournalChange,
  at: number,
): Write => ({
  Put: {
    Item: {
      ...entryKey(
        rootId,
        shard,
        `${journal.sortKeyPrefix}${String(at).padStart(16, '0')}#${crypto.randomUUID()}`,
      ),
      user_id: userId,
      ...('amount' in what ? { amount: toNumberValue(what.amount) } : what),
    },
  },
  transient: true,
})

/** The write that deletes a journal entry, if it is there. */
export const deleteJournalEntry = (rootId: number, { shard, sk }: JournalEntry): Write => ({
  Delete: { Key: entryKey(rootId, shard, sk) },
})

/** Which shards of a journal to read: only the first, or all of a tree that grows fast. */
export type ShardRange = 'first' | 'all'

/** Reads journal entries of a tree: from each shard the oldest ones in order, at most `limit` together. */
export async function readJournal(
  rootId: number,
  limit: number,
  range: ShardRange = 'all',
): Promise<JournalEntry[]> {
  const shards = Array.from({ length: range === 'all' ? journalShards : 1 }, (_, shard) => shard)
  const entries = await Promise.all(
    shards.map((shard) => readShard(rootId, shard, Math.ceil(limit / shards.length))),
  )
  return entries.flat()
}

async function readShard(rootId: number, shard: number, limit: number): Promise<JournalEntry[]> {
  const items = await queryFirst(
    {
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':pk': partitionOf(rootId, shard), ':prefix': journal.sortKeyPrefix },
      ConsistentRead: true,
    },
    limit,
  )
  return items.map((item) => toEntry(item, shard))
}

/** Reads the entries of shard 0 with these sort keys; undefined if any of them has been deleted. */
export async function readJournalEntries(
  rootId: number,
  sortKeys: readonly string[],
): Promise<JournalEntry[] | undefined> {
  const items = await readItems(
    sortKeys.map((sk) => entryKey(rootId, 0, sk)),
    { consistent: true },
  )
  const entries = items.flatMap((item) => (item === undefined ? [] : [toEntry(item, 0)]))
  return entries.length === sortKeys.length ? entries : undefined
}

function toEntry(item: Item, shard: number): JournalEntry {
  const { sk, user_id, joined, renamed, amount = zero } = v.parse(EntryItem, item)
  return { shard, sk, userId: user_id, joined, renamed, amount }
}

/** A journal entry in a packed list: shard, sort key, user id, and what it is about. */
type PackedEntry = [
  shard: number,
  sk: string,
  userId: number,
  what: 'joined' | 'renamed' | { amount: string },
]

/** Packs journal entries: some 40 bytes each, most of them for the random part of the sort key. */
export function packEntries(entries: readonly JournalEntry[]): Uint8Array {
  const packed = entries.map(({ shard, sk, userId, joined, renamed, amount }): PackedEntry => {
    const change = joined ? 'joined' : 'renamed'
    return [shard, sk, userId, joined || renamed ? change : { amount: amount.toFixed() }]
  })
  return deflateRawSync(JSON.stringify(packed))
}

/** Unpacks what packEntries has packed. */
export function unpackEntries(packed: Uint8Array): JournalEntry[] {
  const entries = JSON.parse(inflateRawSync(packed).toString()) as PackedEntry[]
  return entries.map(([shard, sk, userId, what]) => ({
    shard,
    sk,
    userId,
    joined: what === 'joined',
    renamed: what === 'renamed',
    amount: typeof what === 'string' ? zero : new Big(what.amount),
  }))
}

/**
 * Entries of a tree that grows fast are spread over shards of its journal, because a partition takes 1,000
 * write units a second. Shard 0 is the whole journal of any other tree, so that its worker reads one
 * partition.
 */
export const journalShards = 16

/**
 * How many entries of a tree a process writes to shard 0 in a second before it spreads them. Some thirty
 * functions handle events at a time, and an entry costs four write units.
 */
const entriesInShardZero = 5

/** How many entries of each tree this process has written in the current second. */
const recent = { second: 0, entriesByTree: new Map<number, number>() }

/**
 * Chooses the shard for a journal entry about a member; the same member's entries are in one shard or in
 * 0.
 */
export function chooseShard(rootId: number, userId: number): number {
  const second = Math.floor(Date.now() / 1_000)
  if (second !== recent.second) Object.assign(recent, { second, entriesByTree: new Map() })
  const entries = (recent.entriesByTree.get(rootId) ?? 0) + 1
  recent.entriesByTree.set(rootId, entries)
  return entries <= entriesInShardZero ? 0 : spreadShard(userId)
}

/** The shard other than 0 of a member's entries. */
export const spreadShard = (userId: number): number => 1 + (userId % (journalShards - 1))

/** The name of a shard of a journal in keys: the root's id, and the shard's number unless it is 0. */
export const shardName = (rootId: number, shard: number): string =>
  shard === 0 ? String(rootId) : `${rootId}#${shard}`

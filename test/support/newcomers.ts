import { putProfile } from '../../shared/community/member.ts'
import { placeBelow } from '../../shared/community/membership.ts'
import { putJournalEntry } from '../../shared/community/tree-journal.ts'
import { maxTransactionWrites, transact } from '../../shared/db/write.ts'
import { newUserIds } from './community.ts'

const inOrder = (userId: number): number => 1_767_225_600_000 + (userId % 1_000_000)

const member = (userId: number, joinedAt = inOrder) => ({
  userId,
  nickname: `Newcomer ${userId}`,
  email: `${userId}@example.com`,
  joinedAt: joinedAt(userId),
})

/** Adds a member without a referrer, and returns the user id, which is that of the tree too. */
export async function addRoot(): Promise<number> {
  const userId = newUserIds()
  await transact([putProfile({ ...member(userId), rootId: userId, depth: 0, upline: [] })])
  return userId
}

interface NewcomerOptions {
  joinedAt?: (userId: number) => number
  /** The shard of the journal for a member's entry. */
  shardOf?: (userId: number) => number
}

/**
 * Adds direct referrals of a root whom no member list shows yet, with user ids that follow `lastId`. The tree
 * queue is told nothing.
 */
export async function addNewcomers(
  lastId: number,
  count: number,
  rootId = lastId,
  { joinedAt = inOrder, shardOf = () => 0 }: NewcomerOptions = {},
): Promise<void> {
  const place = placeBelow({ userId: rootId, rootId, depth: 0, upline: [] })
  const writes = Array.from({ length: count }, (_, i) => lastId + 1 + i).flatMap((userId) => [
    putProfile({ ...member(userId, joinedAt), ...place }),
    putJournalEntry(rootId, shardOf(userId), userId, { joined: true }, Date.now()),
  ])
  for (let start = 0; start < writes.length; start += maxTransactionWrites)
    await transact(writes.slice(start, start + maxTransactionWrites))
}

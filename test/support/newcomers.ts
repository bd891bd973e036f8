import { putProfile } from '../../shared/community/profile.ts'
import { placeBelow } from '../../shared/community/join.ts'
import { putJournalEntry } from '../../shared/community/growth/journal.ts'
import { transact } from '../../shared/db/write.ts'
import { newUserIds } from './community.ts'
import { writeAll } from './write-all.ts'

const inOrder = (userId: number): number => 1_767_225_600_000 + (userId % 1_000_000)

const member = (userId: number, joinedAt = inOrder) => ({
  userId,
  nickname: `Newcomer ${userId}`,
  email: `${userId}@example.com`,
  joinedAt: joinedAt(userId),
})

/** Adds a member without a referrer. Returns the user id, which is also the id of the referral tree. */
export async function addRoot(): Promise<number> {
  const userId = newUserIds()
  await transact([putProfile({ ...member(userId), rootId: userId, depth: 0, upline: [] })])
  return userId
}

/**
 * Adds direct referrals to the root of a referral tree. Their user ids follow `lastId`. Sends no message to
 * the worker, so the root's member list lacks them at first.
 */
export async function addNewcomers(
  lastId: number,
  count: number,
  rootId = lastId,
  joinedAt = inOrder,
): Promise<void> {
  const place = placeBelow({ userId: rootId, rootId, depth: 0, upline: [] })
  const writes = Array.from({ length: count }, (_, i) => lastId + 1 + i).flatMap((userId) => [
    putProfile({ ...member(userId, joinedAt), ...place }),
    putJournalEntry(rootId, userId, { joined: true }),
  ])
  await writeAll(writes)
}

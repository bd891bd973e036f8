import type { Write } from '../db/write.ts'
import { RejectedEvent } from '../events/rejected-event.ts'
import { type JournalChange, putJournalEntry } from './growth/journal.ts'
import { notifyTreeQueue } from './growth/queue.ts'
import { maxUplineLength, type Profile, putProfile, readProfile, renameProfile } from './profile.ts'

/** The data of a user's registration that the community needs. */
export interface Registration {
  userId: number
  nickname: string
  email: string
  referrerId?: number | undefined
  registeredAt: number
}

/** What a transaction that registers or updates a user must write, and whom to notify afterwards. */
export interface Membership {
  writes: Write[]
  /** Notifies the worker `grow-tree`. Call this after the transaction, even if the event is a duplicate. */
  notify: () => Promise<void>
}

/**
 * Prepares a member's profile, and a journal entry for the worker `grow-tree`, which adds the member to all
 * ancestors. Throws RejectedEvent if the referrer is not registered, and for a self-referral.
 */
export async function registerMember(registration: Registration): Promise<Membership> {
  const { userId, nickname, email, referrerId, registeredAt } = registration
  if (referrerId === userId) throw new RejectedEvent('own_referrer')
  const referrer = referrerId === undefined ? undefined : await readProfile(referrerId)
  if (referrerId !== undefined && referrer === undefined) throw new RejectedEvent('unknown_referrer')
  const place = referrer === undefined ? { rootId: userId, depth: 0, upline: [] } : placeBelow(referrer)
  const member = { userId, nickname, email, joinedAt: registeredAt, ...place }
  return withJournal(member, { joined: true }, putProfile(member))
}

/** Returns the place of a new member in the referral tree, directly below the given referrer. */
export const placeBelow = ({
  userId,
  rootId,
  depth,
  upline,
}: Pick<Profile, 'userId' | 'rootId' | 'depth' | 'upline'>) => ({
  rootId,
  depth: depth + 1,
  upline: [userId, ...upline].slice(0, maxUplineLength),
})

/**
 * Prepares a member's new nickname or email address: the write of the profile, and a journal entry. With this
 * entry, the worker `grow-tree` updates the lists of all ancestors. If nothing changes, there are no writes.
 * If the condition of a write fails, another writer has changed the profile. Then call this function again.
 * Throws RejectedEvent for a user who is not registered.
 */
export async function renameMember(
  userId: number,
  changes: { nickname?: string | undefined; email?: string | undefined },
): Promise<Membership> {
  const profile = await readProfile(userId)
  if (profile === undefined) throw new RejectedEvent('unknown_user')
  const { nickname = profile.nickname, email = profile.email } = changes
  const isSame = nickname === profile.nickname && email === profile.email
  const renamed = withJournal(profile, { renamed: true }, renameProfile(profile, { nickname, email }))
  return isSame ? { ...renamed, writes: [] } : renamed
}

/** Adds a journal entry to a write. The root of a referral tree gets none, because it has no ancestors. */
function withJournal(
  { userId, rootId, depth }: Pick<Profile, 'userId' | 'rootId' | 'depth'>,
  change: JournalChange,
  write: Write,
): Membership {
  if (depth === 0) return { writes: [write], notify: async () => undefined }
  return { writes: [write, putJournalEntry(rootId, userId, change)], notify: () => notifyTreeQueue(rootId) }
}

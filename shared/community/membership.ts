import type { Write } from '../db/write.ts'
import type { Outcome } from '../events/event-record.ts'
import { OutOfOrderEvent, RejectedEvent } from '../events/rejected-event.ts'
import { journalWriter } from './journal-writer.ts'
import { type Profile, putProfile, maxUplineLength, readProfile, updateSearchFields } from './member.ts'
import { replaceText } from './search-chunks.ts'

/** The data of a user's registration that the community needs. */
export interface Registration {
  userId: number
  nickname: string
  email: string
  referrerId?: number | undefined
  /** Instant of registration, epoch milliseconds. */
  registeredAt: number
}

/** The community's part of a user's registration or update. */
export interface Membership {
  /** Writes for the transaction that registers or updates the user at an instant, epoch milliseconds. */
  writes: (at: number) => Write[]
  /** Notifies the tree queue. Call it after the transaction, and also when the event is a duplicate. */
  notify: (outcome: Outcome) => Promise<void>
}

/**
 * Creates a member's profile, and the journal entry from which the worker adds the member to all ancestors.
 * Throws OutOfOrderEvent when the referrer is not registered, RejectedEvent when the member is the referrer.
 */
export async function registerMember(registration: Registration): Promise<Membership> {
  const { userId, nickname, email, referrerId, registeredAt } = registration
  if (referrerId === userId) throw new RejectedEvent('own_referrer')
  const member = { userId, nickname, email, joinedAt: registeredAt }
  if (referrerId === undefined) {
    const root = { ...member, rootId: userId, depth: 0, upline: [] }
    return {
      writes: (createdAt) => [putProfile({ ...root, createdAt })],
      notify: async () => undefined,
    }
  }
  const referrer = await readProfile(referrerId)
  if (referrer === undefined) throw new OutOfOrderEvent('unknown_referrer')
  const place = placeBelow(referrer)
  const journal = journalWriter(place.rootId, userId)
  return {
    writes: (at) => [putProfile({ ...member, ...place, createdAt: at }), journal.put({ joined: true }, at)],
    notify: journal.notify,
  }
}

/** The place in the referral tree of a new direct referral of a member. */
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
 * The community's part of a new nickname or email address: the profile, the search chunk with both, and the
 * journal entry from which the worker changes the search indexes of all ancestors. There are no writes when
 * nothing changes. If a condition fails, another writer has changed one of the items: call this function
 * again. Throws OutOfOrderEvent for a user who is not registered.
 */
export async function renameMember(
  userId: number,
  changes: { nickname?: string | undefined; email?: string | undefined },
): Promise<Membership> {
  const profile = await readProfile(userId)
  if (profile === undefined) throw new OutOfOrderEvent('unknown_user')
  const { rootId, chunk } = profile
  const { nickname = profile.nickname, email = profile.email } = changes
  const isSame = nickname === profile.nickname && email === profile.email
  const rename = updateSearchFields(profile, { nickname, email })
  // A member without a search chunk is in no list yet.
  if (chunk === undefined) return { writes: () => (isSame ? [] : [rename]), notify: async () => undefined }
  const text = isSame ? undefined : await replaceText(rootId, chunk, { userId, nickname, email })
  const journal = journalWriter(rootId, userId)
  return {
    writes: (at) => (text === undefined ? [] : [rename, text, journal.put({ renamed: true }, at)]),
    notify: journal.notify,
  }
}

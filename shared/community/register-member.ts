import type { Write } from '../db/write.ts'
import { RejectedEvent, OutOfOrderEvent } from '../events/rejected-event.ts'
import { notifyTreeQueue } from './notify-tree-queue.ts'
import { putJournalEntry } from './journal.ts'
import { type Profile, putProfile, uplineLength } from './profile.ts'
import { readProfile } from './read-profile.ts'

/** Who joins the community, as a registration tells it. */
export interface Registration {
  userId: number
  nickname: string
  email: string
  referrerId?: number | undefined
  /** Epoch milliseconds. */
  registeredAt: number
}

/** The community's part of a registration. */
export interface Membership {
  /** Members for the registration's own transaction. */
  writes: Write[]
  /** To be awaited once the transaction is through, and also when the event turned out to be a duplicate. */
  announce: () => Promise<void>
}

/**
 * Makes a profile under the referrer, and enters the newcomer into the journal of the tree, from where the ancestors'
 * lists and counts follow. Throws TooEarly while the referrer is not registered, Refused where one refers themselves.
 */
export async function registerMember(registration: Registration): Promise<Membership> {
  const { userId, nickname, email, referrerId, registeredAt } = registration
  if (referrerId === userId) throw new RejectedEvent('own_referrer')
  const newcomer = { userId, nickname, email, joinedAt: registeredAt }
  if (referrerId === undefined) {
    const root = { ...newcomer, rootId: userId, depth: 0, upline: [] }
    return { writes: [putProfile(root)], announce: async () => undefined }
  }
  const position = below(await referrer(referrerId))
  return {
    writes: [
      putProfile({ ...newcomer, ...position }),
      putJournalEntry(position.rootId, userId, { joined: true }),
    ],
    announce: () => notifyTreeQueue(position.rootId),
  }
}

async function referrer(userId: number): Promise<Profile> {
  const profile = await readProfile(userId)
  if (profile === undefined) throw new OutOfOrderEvent('unknown_referrer')
  return profile
}

/** Where a direct referral of a member stands. */
export const below = ({
  userId,
  rootId,
  depth,
  upline,
}: Pick<Profile, 'userId' | 'rootId' | 'depth' | 'upline'>) => ({
  rootId,
  depth: depth + 1,
  upline: [userId, ...upline].slice(0, uplineLength),
})

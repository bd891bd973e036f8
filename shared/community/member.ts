import * as v from 'valibot'
import { readItems } from '../db/read.ts'
import { Money } from '../money.ts'
import { maskEmail } from '../users/identity.ts'
import type { BTreeEntry } from './counted-b-tree/entry.ts'
import { noteKey, toNote } from './note-item.ts'
import { type Profile, profileKey, toProfile } from './profile.ts'

const Count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))

/** A member as someone above them in the tree sees them. */
export const Member = v.object({
  user_id: v.pipe(v.number(), v.safeInteger()),
  nickname: v.string(),
  /** Masked. */
  email: v.string(),
  /** Epoch milliseconds. */
  joined_at: Count,
  /** Steps down from the caller: 1 for a direct referral. */
  level: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  direct_count: Count,
  team_count: Count,
  /** Packages bought by the member, in the reward currency. */
  package_amount: Money,
  /** Packages bought by the member's whole downline. */
  team_performance: Money,
  /** The caller's own; empty where none is set, null for whoever is no direct referral. */
  note: v.nullable(v.string()),
})
export type Member = v.InferOutput<typeof Member>

/** Up to here, notes are read together with the profiles, before it is known whose notes there can be. */
const mostAtOnce = 20

/** The members of a list as its owner sees them, in the order given: one batch of reads for a page. */
export async function readMembers(owner: Profile, entries: readonly BTreeEntry[]): Promise<Member[]> {
  const profileKeys = entries.map(({ userId }) => profileKey(userId))
  if (entries.length > mostAtOnce) {
    const profiles = present(await readItems(profileKeys))
    const directs = profiles.filter((profile) => isDirect(owner, profile))
    const notes = await readItems(directs.map(({ userId }) => noteKey(owner.userId, userId)))
    const noteOf = new Map(directs.map(({ userId }, i) => [userId, toNote(notes[i])]))
    return profiles.map((profile) => toMember(owner, profile, noteOf.get(profile.userId)))
  }
  const items = await readItems([
    ...profileKeys,
    ...entries.map(({ userId }) => noteKey(owner.userId, userId)),
  ])
  return present(items.slice(0, entries.length)).map((profile, i) =>
    toMember(owner, profile, isDirect(owner, profile) ? toNote(items[entries.length + i]) : undefined),
  )
}

function present(items: readonly (Record<string, unknown> | undefined)[]): Profile[] {
  return items.map((item) => {
    if (item === undefined) throw new Error('a member of a list has no profile')
    return toProfile(item)
  })
}

const isDirect = (owner: Profile, { upline }: Profile): boolean => upline[0] === owner.userId

const toMember = (owner: Profile, profile: Profile, note: string | undefined): Member => ({
  user_id: profile.userId,
  nickname: profile.nickname,
  email: maskEmail(profile.email),
  joined_at: profile.joinedAt,
  level: profile.depth - owner.depth,
  direct_count: profile.directCount,
  team_count: profile.teamCount,
  package_amount: profile.packageAmount,
  team_performance: profile.teamPerformance,
  note: note ?? null,
})

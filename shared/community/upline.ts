import type { ReadItem } from './counted-b-tree/counted-b-tree.ts'
import { type Profile, profileKey, toProfile } from './profile.ts'

/** A profile that is known to exist. */
export async function memberProfile(userId: number, read: ReadItem): Promise<Profile> {
  const item = await read(profileKey(userId))
  if (item === undefined) throw new Error('a member of a tree has no profile')
  return toProfile(item)
}

/** Every ancestor of a member, the referrer first, the root last: one read for each length of upline that a profile holds. */
export async function readUpline(member: Profile, read: ReadItem): Promise<number[]> {
  const ancestors = [...member.upline]
  while (ancestors.length < member.depth) {
    const farthest = await memberProfile(ancestors.at(-1) ?? member.rootId, read)
    if (farthest.upline.length === 0) throw new Error('an upline ends before its root')
    ancestors.push(...farthest.upline)
  }
  return ancestors
}

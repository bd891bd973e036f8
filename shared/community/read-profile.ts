import { type Profile, profileKey, toProfile } from './profile.ts'
import { readItem } from '../db/read.ts'

/** A member's profile as it stands now, or undefined where there is no such member. */
export async function readProfile(userId: number): Promise<Profile | undefined> {
  const item = await readItem(profileKey(userId), { consistent: true })
  return item && toProfile(item)
}

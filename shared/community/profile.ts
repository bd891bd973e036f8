import * as v from 'valibot'
import { addToSums, readSum } from '../db/exact-sum.ts'
import { itemType } from '../db/item-type.ts'
import { readItem, readItems } from '../db/read.ts'
import { Integer, type Item, type Key } from '../db/table.ts'
import { putNew, type Write } from '../db/write.ts'
import { Count } from '../fields.ts'
import { maskEmail } from '../users/identity.ts'
import { Money } from '../money.ts'
import { noteKey, toNote } from './note.ts'

/** Maximum number of ancestors in a member's profile. The last ancestor's profile lists the next ones. */
export const maxUplineLength = 32

const ProfileItem = v.object({
  userId: Integer,
  nickname: v.string(),
  email: v.string(),
  /** Instant of joining, epoch milliseconds. */
  joinedAt: Integer,
  // The place in the referral tree never changes (infra/DECISIONS.md).
  /** User id of the root of the referral tree, the member without a referrer. */
  rootId: Integer,
  depth: Integer,
  /** User ids of the nearest ancestors, the referrer first, at most `maxUplineLength`. */
  upline: v.pipe(
    v.string(),
    v.transform((text) => (text === '' ? [] : text.split(',').map(Number))),
  ),
  directCount: Integer,
  teamCount: Integer,
})

const profiles = itemType({
  pk: 'MEMBER#{userId}',
  sk: 'PROFILE',
  holds: 'a member: name, place in the referral tree, counts and sums over the downline',
  found: 'by user',
})

/** Key of the item that holds a member's profile. */
export const profileKey = (userId: number): Key => profiles.key({ userId })

/** A member of the community: name, place in the referral tree, and counts and sums over the downline. */
export type Profile = ReturnType<typeof toProfile>

/** Parses a member's profile from its item. */
export const toProfile = (item: Item) => ({
  ...v.parse(ProfileItem, item),
  packageAmount: readSum(item, 'packageAmount'),
  teamPerformance: readSum(item, 'teamPerformance'),
})

/** Reads a member's profile, strongly consistent; undefined for a user who is not registered. */
export async function readProfile(userId: number): Promise<Profile | undefined> {
  const item = await readItem(profileKey(userId), { consistent: true })
  return item && toProfile(item)
}

type NewProfile = Pick<Profile, 'userId' | 'nickname' | 'email' | 'joinedAt' | 'rootId' | 'depth' | 'upline'>

/** The profile item of a new member, who has no downline yet. */
export const newProfileItem = (member: NewProfile): Item & Key => ({
  ...profileKey(member.userId),
  ...member,
  upline: member.upline.join(','),
  directCount: 0,
  teamCount: 0,
})

/** The write of a new member's profile; its condition fails if the member already has one. */
export const putProfile = (member: NewProfile): Write => putNew(newProfileItem(member))

/** The write that adds a purchase to the buyer's own package amount. */
export const addPurchase = (userId: number, amount: Big): Write =>
  addToSums(profileKey(userId), { packageAmount: amount })

/**
 * The write that gives a member another nickname or email address. Its condition fails if the nickname or the
 * address has changed since the profile was read.
 */
export const renameProfile = (
  { userId, nickname, email }: Profile,
  next: Pick<Profile, 'nickname' | 'email'>,
): Write => ({
  Update: {
    Key: profileKey(userId),
    UpdateExpression: 'SET nickname = :new_nickname, email = :new_email',
    ConditionExpression: 'nickname = :nickname AND email = :email',
    ExpressionAttributeValues: {
      ':new_nickname': next.nickname,
      ':new_email': next.email,
      ':nickname': nickname,
      ':email': email,
    },
  },
})

/** Response data: what an ancestor of a member sees of that member. */
export const Member = v.object({
  user_id: v.pipe(v.number(), v.safeInteger()),
  nickname: v.string(),
  email: v.string(),
  /** Instant of joining, epoch milliseconds. */
  joined_at: Count,
  /** How many levels the member is below the caller: 1 for a direct referral. */
  level: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  direct_count: Count,
  team_count: Count,
  /** Sum of the member's package purchases, in the reward currency. */
  package_amount: Money,
  /** Sum of the package purchases of the member's whole downline, in the reward currency. */
  team_performance: Money,
  /** The caller's note on the member: empty if none is set, null if the member is not a direct referral. */
  note: v.nullable(v.string()),
})
export type Member = v.InferOutput<typeof Member>

/** For up to this many members, profiles and notes are read in one batch. */
const maxMembersWithNotes = 20

/** Reads members as the owner of the list sees them, in the given order. */
export async function readMembers(owner: Profile, members: readonly HasUserId[]): Promise<Member[]> {
  const noteOn = ({ userId }: HasUserId) => noteKey(owner.userId, userId)
  const isPage = members.length <= maxMembersWithNotes
  const [profiles, notes] = await readWithProfiles(members, isPage ? members.map(noteOn) : [])
  const directs = profiles.filter(({ upline }) => upline[0] === owner.userId)
  const noteItems = isPage ? notes : await readItems(directs.map(noteOn))
  const noteByUser = new Map((isPage ? members : directs).map(({ userId }, i) => [userId, noteItems[i]]))
  const notedIds = new Set(directs.map(({ userId }) => userId))
  return profiles.map((profile) =>
    toMember(owner, profile, notedIds.has(profile.userId) ? toNote(noteByUser.get(profile.userId)) : null),
  )
}

type HasUserId = Pick<Profile, 'userId'>

/** Reads the profiles of the given members, in the same order. */
export const readProfiles = async (
  members: readonly HasUserId[],
  options: { consistent?: boolean } = {},
): Promise<Profile[]> => (await readWithProfiles(members, [], options))[0]

async function readWithProfiles(
  members: readonly HasUserId[],
  others: readonly Key[],
  { consistent = false }: { consistent?: boolean } = {},
): Promise<[Profile[], (Item | undefined)[]]> {
  const keys = [...members.map(({ userId }) => profileKey(userId)), ...others]
  const items = await readItems(keys, { consistent })
  const stored = items.slice(0, members.length).filter((item) => item !== undefined)
  if (stored.length === members.length) return [stored.map(toProfile), items.slice(members.length)]
  if (consistent) throw new Error('a member of a list has no profile')
  // Reads again, because an eventually consistent read can miss the profile of a member who has just joined.
  return readWithProfiles(members, others, { consistent: true })
}

/**
 * Whether a member is in the downline of `owner`. Reads one profile for every `maxUplineLength` levels
 * between the two. Reads nothing for a member of another referral tree, so that the response time does not
 * disclose that the member exists.
 */
export async function isBelow(
  owner: Pick<Profile, 'userId' | 'rootId' | 'depth'>,
  member: Pick<Profile, 'rootId' | 'depth' | 'upline'>,
): Promise<boolean> {
  if (member.rootId !== owner.rootId) return false
  let levels = member.depth - owner.depth
  let { upline } = member
  while (levels > upline.length) {
    const [item] = await readItems([profileKey(upline.at(-1) ?? 0)])
    if (upline.length === 0 || item === undefined) return false
    levels -= upline.length
    upline = toProfile(item).upline
  }
  return levels > 0 && upline[levels - 1] === owner.userId
}

const toMember = (owner: Profile, profile: Profile, note: string | null): Member => ({
  user_id: profile.userId,
  nickname: profile.nickname,
  email: maskEmail(profile.email),
  joined_at: profile.joinedAt,
  level: profile.depth - owner.depth,
  direct_count: profile.directCount,
  team_count: profile.teamCount,
  package_amount: profile.packageAmount,
  team_performance: profile.teamPerformance,
  note,
})

import * as v from 'valibot'
import { addToSums, type Moment, readSum, withSum } from '../db/exact-sum.ts'
import { itemType } from '../db/item-type.ts'
import { findItems, readItem, readItems } from '../db/read.ts'
import { Integer, type Item, type Key } from '../db/table.ts'
import { putNew, type Write } from '../db/write.ts'
import { Count } from '../fields.ts'
import { maskEmail } from '../users/identity.ts'
import { type Big, Money } from '../money.ts'
import type { BTreeEntry } from './counted-b-tree/node.ts'
import { noteKey, toNote } from './note.ts'

/** Maximum number of ancestors that a profile names. More are found from the farthest one's profile. */
export const maxUplineLength = 32

/** A member of the community: name, place in the referral tree, and sums over the member's downline. */
export interface Profile {
  userId: number
  nickname: string
  email: string
  /** Instant of joining, epoch milliseconds. */
  joinedAt: number
  /** User id of the root of the referral tree, the member without a referrer. */
  rootId: number
  /** Number of levels below the root of the tree; 0 for the root itself. */
  depth: number
  /** User ids of the nearest ancestors, the referrer first, at most `maxUplineLength`. */
  upline: number[]
  /** Number of the search chunk with the member's search text; undefined until one is assigned. */
  chunk: number | undefined
  directCount: number
  teamCount: number
  packageAmount: Big
  teamPerformance: Big
}

const ProfileItem = v.object({
  user_id: Integer,
  nickname: v.string(),
  email: v.string(),
  joined_at: Integer,
  root_id: Integer,
  depth: Integer,
  upline: v.pipe(
    v.string(),
    v.transform((text) => (text === '' ? [] : text.split(',').map(Number))),
  ),
  chunk: v.optional(Integer),
  direct_count: v.optional(Integer),
  team_count: v.optional(Integer),
})

const profiles = itemType({
  pk: 'MEMBER#{userId}',
  sk: 'PROFILE',
  holds: 'a member: name, place in the referral tree, counts and sums over the downline',
  found: 'by user',
})

/** Key of the item of a member's profile. */
export const profileKey = (userId: number): Key => profiles.key({ userId })

/** Parses a member's profile from its item. */
export function toProfile(item: Item): Profile {
  const parsed = v.parse(ProfileItem, item)
  return {
    userId: parsed.user_id,
    nickname: parsed.nickname,
    email: parsed.email,
    joinedAt: parsed.joined_at,
    rootId: parsed.root_id,
    depth: parsed.depth,
    upline: parsed.upline,
    chunk: parsed.chunk,
    directCount: parsed.direct_count ?? 0,
    teamCount: parsed.team_count ?? 0,
    packageAmount: readSum(item, 'package_amount'),
    teamPerformance: readSum(item, 'team_performance'),
  }
}

/** Reads a member's profile, strongly consistent; undefined for a user who is not registered. */
export async function readProfile(userId: number): Promise<Profile | undefined> {
  const item = await readItem(profileKey(userId), { consistent: true })
  return item && toProfile(item)
}

interface NewProfile extends Pick<
  Profile,
  'userId' | 'nickname' | 'email' | 'joinedAt' | 'rootId' | 'depth' | 'upline'
> {
  /** Instant of the transaction that adds the profile, epoch milliseconds. */
  createdAt?: number | undefined
}

/** The profile item of a new member, who has no downline yet. */
export const newProfileItem = (member: NewProfile): Item & Key => ({
  ...profileKey(member.userId),
  user_id: member.userId,
  nickname: member.nickname,
  email: member.email,
  joined_at: member.joinedAt,
  root_id: member.rootId,
  depth: member.depth,
  upline: member.upline.join(','),
  created_at: member.createdAt,
})

/** The write of a new member's profile; its condition fails when the member has one. */
export const putProfile = (member: NewProfile): Write => putNew(newProfileItem(member))

/** The write that adds a purchase to the buyer's own package amount. */
export const addPurchase = (userId: number, amount: Big, moment: Moment): Write =>
  addToSums(profileKey(userId), new Map([['package_amount', amount]]), new Map(), moment)

/** What a worker has derived for a member from the tree: the search chunk, and counts and sum over it. */
export type DerivedFields = Pick<Profile, 'chunk' | 'directCount' | 'teamCount' | 'teamPerformance'>

/** A profile's item with these derived fields; the same item if it has them. */
export function withDerivedFields(item: Item, derived: DerivedFields): Item {
  const { chunk, directCount, teamCount, teamPerformance } = toProfile(item)
  const isSame =
    chunk === derived.chunk &&
    directCount === derived.directCount &&
    teamCount === derived.teamCount &&
    teamPerformance.eq(derived.teamPerformance)
  if (isSame) return item
  const counted = { chunk: derived.chunk, direct_count: derived.directCount, team_count: derived.teamCount }
  return withSum({ ...item, ...counted }, 'team_performance', derived.teamPerformance)
}

type SearchFields = Pick<Profile, 'nickname' | 'email' | 'chunk'>

/**
 * The write that changes nickname, email address or search chunk of a member. Its condition fails when any of
 * the three has changed since the profile was read, because the search text would then not match the profile.
 */
export function updateSearchFields(
  { userId, nickname, email, chunk }: Profile,
  changes: Partial<SearchFields>,
): Write {
  const assignments = Object.keys(changes).map((name) => `#${name} = :new_${name}`)
  const newValues = Object.entries(changes).map(([name, value]) => [`:new_${name}`, value] as const)
  const chunkCondition = chunk === undefined ? 'attribute_not_exists(#chunk)' : '#chunk = :chunk'
  return {
    Update: {
      Key: profileKey(userId),
      UpdateExpression: `SET ${assignments.join(', ')}`,
      ConditionExpression: `#nickname = :nickname AND #email = :email AND ${chunkCondition}`,
      ExpressionAttributeNames: { '#nickname': 'nickname', '#email': 'email', '#chunk': 'chunk' },
      ExpressionAttributeValues: {
        ...Object.fromEntries(newValues),
        ':nickname': nickname,
        ':email': email,
        ...(chunk === undefined ? {} : { ':chunk': chunk }),
      },
    },
  }
}

/** Answer: a member as one of their ancestors sees them. */
export const Member = v.object({
  user_id: v.pipe(v.number(), v.safeInteger()),
  nickname: v.string(),
  /** Email address of the member, masked. */
  email: v.string(),
  /** Instant of joining, epoch milliseconds. */
  joined_at: Count,
  /** Levels below the caller: 1 for a direct referral. */
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

/** For up to this many members, all notes that may exist are read in one batch with the profiles. */
const maxMembersWithNotes = 20

/** Reads members as the owner of the list sees them, in the order given. A page takes one batch of reads. */
export async function readMembers(
  owner: Profile,
  entries: readonly Pick<BTreeEntry, 'userId'>[],
): Promise<Member[]> {
  const keys = entries.map(({ userId }) => profileKey(userId))
  const noteOn = ({ userId }: { userId: number }) => noteKey(owner.userId, userId)
  if (entries.length > maxMembersWithNotes) {
    const members = toProfiles(await readWithProfiles(keys, keys.length))
    const directs = members.filter((member) => isDirect(owner, member))
    const noteItems = await readItems(directs.map(noteOn))
    const noteByUser = new Map(directs.map(({ userId }, i) => [userId, toNote(noteItems[i])]))
    return members.map((member) => toMember(owner, member, noteByUser.get(member.userId)))
  }
  const items = await readWithProfiles([...keys, ...entries.map(noteOn)], keys.length)
  const noteItems = items.slice(keys.length)
  return toProfiles(items.slice(0, keys.length)).map((member, i) =>
    toMember(owner, member, isDirect(owner, member) ? toNote(noteItems[i]) : undefined),
  )
}

/**
 * Reads items of which the first are profiles. A profile that is not found is outdated: its member has joined
 * a moment ago.
 */
const readWithProfiles = (keys: readonly Key[], profileCount: number): Promise<(Item | undefined)[]> =>
  findItems(
    keys,
    (item) => item,
    (item, i) => i < profileCount && item === undefined,
  )

const toProfiles = (items: readonly (Item | undefined)[]): Profile[] =>
  items.map((item) => {
    if (item === undefined) throw new Error('a member of a list has no profile')
    return toProfile(item)
  })

const isDirect = (owner: Profile, { upline }: Profile): boolean => upline[0] === owner.userId

/**
 * Whether a member is in the downline of another. Reads a profile for each `maxUplineLength` levels between;
 * none for a member of another tree, so that the time of a search does not tell that there is one.
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

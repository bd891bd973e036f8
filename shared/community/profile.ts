import * as v from 'valibot'
import { addToSums, readSum } from '../db/exact-sum.ts'
import { Integer, type Key } from '../db/table.ts'
import type { Write } from '../db/write.ts'
import type { Big } from '../money.ts'

/** Most ancestors that a profile names itself; above them, the farthest one's own profile goes on. */
export const uplineLength = 32

/** A member of the community: who they are, where they stand in their tree, and what their downline amounts to. */
export interface Profile {
  userId: number
  nickname: string
  email: string
  /** Epoch milliseconds. */
  joinedAt: number
  /** The member without a referrer whose tree this is. */
  rootId: number
  /** Steps up to the root; 0 for the root itself. */
  depth: number
  /** The nearest ancestors, the referrer first, at most `uplineLength` of them. */
  upline: number[]
  /** Number of the directory chunk that holds the member's search text, once it has been filed. */
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

/** Key of a member's profile. */
export const profileKey = (userId: number): Key => ({ pk: `USER#${userId}`, sk: 'PROFILE' })

/** A profile as the table holds it. */
export function toProfile(item: Record<string, unknown>): Profile {
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

type Newcomer = Pick<Profile, 'userId' | 'nickname' | 'email' | 'joinedAt' | 'rootId' | 'depth' | 'upline'>

/** The item of a member whose downline is still empty. */
export const newProfileItem = (member: Newcomer): Record<string, unknown> => ({
  ...profileKey(member.userId),
  user_id: member.userId,
  nickname: member.nickname,
  email: member.email,
  joined_at: member.joinedAt,
  root_id: member.rootId,
  depth: member.depth,
  upline: member.upline.join(','),
})

/** The write of a new profile; its condition fails where the member has one. */
export const putProfile = (member: Newcomer): Write => ({
  Put: {
    Item: newProfileItem(member),
    ConditionExpression: 'attribute_not_exists(pk)',
  },
})

/** The write that adds a purchase to the member's own package amount. */
export const addPurchase = (userId: number, amount: Big): Write =>
  addToSums(profileKey(userId), new Map([['package_amount', amount]]))

/** What a batch of events adds to an ancestor. */
export interface DownlineDelta {
  directs: number
  members: number
  performance: Big
}

/** The write that adds to what a member's downline amounts to. */
export function addDownlineDelta(userId: number, { directs, members, performance }: DownlineDelta): Write {
  const counts = new Map([
    ['direct_count', directs],
    ['team_count', members],
  ])
  return addToSums(
    profileKey(userId),
    performance.eq('0') ? new Map() : new Map([['team_performance', performance]]),
    new Map([...counts].filter(([, count]) => count > 0)),
  )
}

/**
 * The write that files a member's search text in a chunk, provided that name and email are still those that the text was
 * made from.
 */
export const setChunk = ({ userId, nickname, email }: Profile, chunk: number): Write => ({
  Update: {
    Key: profileKey(userId),
    UpdateExpression: 'SET #chunk = :chunk',
    ConditionExpression: 'attribute_not_exists(#chunk) AND nickname = :nickname AND email = :email',
    ExpressionAttributeNames: { '#chunk': 'chunk' },
    ExpressionAttributeValues: { ':chunk': chunk, ':nickname': nickname, ':email': email },
  },
})

/** The write that renames a member, provided that name, email and chunk are still those of the profile as it was read. */
export const setNames = (profile: Profile, nickname: string, email: string): Write => ({
  Update: {
    Key: profileKey(profile.userId),
    UpdateExpression: 'SET nickname = :nickname, email = :email',
    ConditionExpression: `nickname = :was AND email = :wasEmail AND ${
      profile.chunk === undefined ? 'attribute_not_exists(#chunk)' : '#chunk = :chunk'
    }`,
    ExpressionAttributeNames: { '#chunk': 'chunk' },
    ExpressionAttributeValues: {
      ':nickname': nickname,
      ':email': email,
      ':was': profile.nickname,
      ':wasEmail': profile.email,
      ...(profile.chunk === undefined ? {} : { ':chunk': profile.chunk }),
    },
  },
})

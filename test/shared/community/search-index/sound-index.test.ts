import { expect, it } from 'vitest'
import { toSearchText } from '../../../../shared/community/keyword.ts'
import { newProfileItem, toProfile } from '../../../../shared/community/member.ts'
import { emptyIndex, indexItem } from '../../../../shared/community/search-index/index-head.ts'
import { membersKey, packMembers } from '../../../../shared/community/search-index/members-item.ts'
import { prepareSegment } from '../../../../shared/community/search-index/prepare-segment.ts'
import { soundIndex } from '../../../../shared/community/search-index/sound-index.ts'
import { asStored, type Item, type Key } from '../../../../shared/db/table.ts'

const list = { kind: 'DIRECT' as const, ownerId: 1 }
const place = { joinedAt: 5, rootId: 1, depth: 1, upline: [1] }
const profiles = [2, 3, 4].map((userId) =>
  toProfile(
    asStored(newProfileItem({ userId, nickname: `Ann ${userId}`, email: `${userId}@b.test`, ...place })),
  ),
)
const indexed = profiles.map((profile) => ({
  userId: profile.userId,
  joinedAt: 5,
  text: toSearchText(profile),
}))
const { segment, items } = prepareSegment(list, 0, indexed.slice(0, 2))
const index = { ...emptyIndex(undefined), version: 1, segments: [segment], tail: { from: 3, to: 4 } }
const whole: (Item & Key)[] = [
  indexItem(list, { ...index, backfilled: undefined }),
  ...items(),
  { ...membersKey(list, 'tail', 3), ...packMembers(indexed.slice(2), 1) },
].map(asStored)

const sound = (stored: readonly (Item & Key)[], members = profiles) =>
  soundIndex(list, members, ({ pk, sk }) => stored.find((item) => item.pk === pk && item.sk === sk))

it('a search index is sound if it has all its items and exactly the members of the list, under their names', () => {
  expect(sound(whole)).toEqual(expect.arrayContaining(whole))
  for (const lost of whole) expect(sound(whole.filter((item) => item !== lost))).toEqual([])
  expect(sound(whole, profiles.slice(1))).toEqual([])
  expect(sound(whole, [...profiles, { ...profiles[0], userId: 5 } as (typeof profiles)[0]])).toEqual([])
  expect(
    sound(
      whole,
      profiles.map((profile) => ({ ...profile, nickname: 'Zoë' })),
    ),
  ).toEqual([])
  expect(
    sound([
      asStored(indexItem(list, { ...index, backfilled: { joinedAt: 5, userId: 4 } })),
      ...whole.slice(1),
    ]),
  ).toEqual([])
})

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
const toIndexed = (profile: (typeof profiles)[number]) => ({
  userId: profile.userId,
  joinedAt: 5,
  text: toSearchText(profile),
})
const indexed = profiles.map(toIndexed)
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

it('a search index is not sound if it has a member twice in place of another', () => {
  const twice = { ...membersKey(list, 'tail', 3), ...packMembers(indexed.slice(0, 1), 1) }
  expect(sound([...whole.slice(0, -1), asStored(twice)])).toEqual([])
})

it.each(['Zoë', 'Ann 3 Zoë'])(
  'a search index is not sound if terms find a member by an earlier name, or not by the new one: %s',
  (nickname) => {
    const renamed = profiles.map((profile) => (profile.userId === 3 ? { ...profile, nickname } : profile))
    const inSegment = renamed.slice(0, 2).map(toIndexed)
    const rewritten = [...prepareSegment(list, 0, inSegment).items()].map(asStored)
    const [terms = [], texts = []] = [true, false].map((isTerms) =>
      rewritten.filter(({ sk }) => (sk === 'TERMS') === isTerms),
    )
    const replace = (items: readonly (Item & Key)[]) =>
      whole.map((item) => items.find(({ pk, sk }) => item.pk === pk && item.sk === sk) ?? item)
    expect(sound(replace(rewritten), renamed)).toHaveLength(whole.length)
    expect(sound(replace(texts), renamed)).toEqual([])
    expect(sound(replace(terms))).toEqual([])
  },
)

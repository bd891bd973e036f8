import { expect, it } from 'vitest'
import { packGroups, planGrowth, selectBatch } from '../../../../shared/community/growth/batch.ts'
import type { Profile } from '../../../../shared/community/profile.ts'
import type { Write } from '../../../../shared/db/write.ts'
import { Big } from '../../../../shared/money.ts'

const entry = { sk: 'J#1', user_id: 1 }
const joined = (userId: number, ancestors: number[]) => ({
  entry: { ...entry, user_id: userId, joined: true },
  profile: { userId, joinedAt: userId * 10, nickname: `Member ${userId}`, email: `m${userId}@b` } as Profile,
  ancestors,
})
const bought = (userId: number, amount: string, ancestors: number[]) => ({
  ...joined(userId, ancestors),
  entry: { ...entry, user_id: userId, amount: new Big(amount) },
})

it('a batch has one update for each ancestor, which combines all entries for that ancestor', () => {
  const batch = [
    bought(1, '7', []),
    bought(2, '5', [1]),
    bought(3, '0.1', [2, 1]),
    joined(3, [2, 1]),
    joined(4, [3, 2, 1]),
  ]
  const ids = (members: Iterable<{ userId: number }>) => Array.from(members, ({ userId }) => userId)
  const updates = planGrowth(batch).map(({ ownerId, performance, team, directs }) => [
    ownerId,
    performance.toFixed(),
    ids(team),
    ids(directs),
  ])
  expect(updates).toEqual([
    [1, '5.1', [3, 4], []],
    [2, '0.1', [3, 4], [3]],
    [3, '0', [4], [4]],
  ])
})

it('a batch takes at most 20 renames; the others wait for the next one', () => {
  const renames = Array.from({ length: 21 }, (_, i) => ({ ...entry, sk: `J#${i}`, renamed: true }))
  expect(selectBatch([...renames, entry])).toEqual([...renames.slice(0, 20), entry])
})

it('writes that belong together are never split over two transactions', () => {
  const put = (...names: string[]): Write[] => names.map((pk) => ({ Put: { Item: { pk, sk: 'A' } } }))
  const packed = packGroups([put('a'), put('b', 'c'), put('d'), put('e', 'f'), put('g', 'h', 'i')], 4)
  const names = packed.map((writes) => writes.map(({ Put }) => String(Put?.Item?.['pk'])).join(''))
  expect(names).toEqual(['abcd', 'ef', 'ghi'])
})

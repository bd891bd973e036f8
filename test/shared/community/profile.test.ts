import { expect, it } from 'vitest'
import { isBelow } from '../../../shared/community/profile.ts'

const owner = { userId: 1, rootId: 1, depth: 0 }
const ids = (first: number) => Array.from({ length: 32 }, (_, i) => first + i)

it('whether a member of another tree is below is known without a read, however deep the member is', async () => {
  const stranger = { rootId: 100, depth: 40, upline: ids(101) }
  expect(await isBelow(owner, stranger)).toBe(false)
})

it.each([
  ['a direct referral', { rootId: 1, depth: 1, upline: [1] }, true],
  ['a member of the second level', { rootId: 1, depth: 2, upline: [2, 1] }, true],
  ['the owner', { rootId: 1, depth: 0, upline: [] }, false],
])('whether %s is below is known from the profile', async (_who, member, expected) => {
  expect(await isBelow(owner, member)).toBe(expected)
})

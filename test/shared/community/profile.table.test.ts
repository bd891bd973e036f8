import { beforeAll, expect, it, vi } from 'vitest'
import {
  isBelow,
  maxUplineLength,
  type Profile,
  putProfile,
  readMembers,
  readProfile,
  renameProfile,
} from '../../../shared/community/profile.ts'
import { placeBelow } from '../../../shared/community/join.ts'
import { setNote } from '../../../shared/community/note.ts'
import { db } from '../../../shared/db/table.ts'
import { ConditionFailed, writeItem } from '../../../shared/db/write.ts'
import { newUserIds } from '../../support/community.ts'

/** The lowest member has more ancestors than fit into two profiles. */
const levels = 2 * maxUplineLength + 3

/** A chain of members. Each member is the referrer of the next. */
const chain: Profile[] = []

beforeAll(async () => {
  const rootId = newUserIds()
  for (let level = 0; level <= levels; level += 1) {
    const referrer = chain.at(-1)
    const place = referrer === undefined ? { rootId, depth: 0, upline: [] } : placeBelow(referrer)
    const userId = rootId + level
    await writeItem(
      putProfile({ userId, nickname: 'n', email: `${userId}@example.com`, joinedAt: 1, ...place }),
    )
    chain.push((await readProfile(userId)) as Profile)
  }
})

it('a member is in the downline of every ancestor, however far above, and of nobody else', async () => {
  const [root, other] = chain as [Profile, Profile]
  const lowest = chain.at(-1) as Profile
  for (const ancestor of chain.slice(0, -1)) {
    expect(await isBelow(ancestor, lowest), `${lowest.depth - ancestor.depth} levels`).toBe(true)
    expect(await isBelow(lowest, ancestor)).toBe(false)
    expect(await isBelow({ ...ancestor, userId: 1 }, lowest)).toBe(false)
  }
  expect(await isBelow(root, other)).toBe(true)
  expect(await isBelow(lowest, lowest)).toBe(false)
})

it('a profile that was read before a change of nickname or email address cannot undo the change', async () => {
  const profile = chain.at(-1) as Profile
  for (const change of [{ email: 'new@example.com' }, { nickname: 'new' }]) {
    await writeItem(renameProfile(profile, { ...profile, ...change }))
    await expect(writeItem(renameProfile(profile, profile))).rejects.toThrow(ConditionFailed)
    await writeItem(renameProfile({ ...profile, ...change }, profile))
  }
})

// Otherwise response times would disclose that the member exists.
it('isBelow reads nothing for a member of another referral tree', async () => {
  const read = vi.spyOn(db, 'send')
  expect(await isBelow(chain[0] as Profile, { ...(chain.at(-1) as Profile), rootId: 1 })).toBe(false)
  expect(read).not.toHaveBeenCalled()
})

it('the note on a direct referral is found behind a page of indirect referrals', async () => {
  const [owner, direct, ...indirect] = chain as [Profile, Profile, ...Profile[]]
  await setNote(owner.userId, direct, 'my note')
  const members = await readMembers(owner, [...indirect, direct])
  expect(members.map(({ note }) => note)).toEqual([...indirect.map(() => null), 'my note'])
})

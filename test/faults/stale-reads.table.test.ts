import { expect, it } from 'vitest'
import { newProfileItem, readMembers, readProfile } from '../../shared/community/profile.ts'
import { putNew, transact } from '../../shared/db/write.ts'
import { newUserIds } from '../support/community.ts'
import { tamperCalls } from '../support/tamper-calls.ts'

it('a member list shows a new member even if an eventually consistent read does not find that member yet', async () => {
  const first = newUserIds()
  const member = (userId: number, upline: number[]) =>
    newProfileItem({
      userId,
      nickname: `m ${userId}`,
      email: `${userId}@example.com`,
      joinedAt: 1,
      rootId: first,
      depth: upline.length,
      upline,
    })
  await transact([
    putNew(member(first, [])),
    putNew(member(first + 1, [first])),
    putNew(member(first + 2, [first])),
  ])
  const owner = await readProfile(first)
  let stale = 0
  const { restore } = tamperCalls(async ({ name, perform }) => {
    const answer = (await perform()) as { Responses?: Record<string, { user_id?: unknown }[]> }
    if (name !== 'BatchGetCommand' || stale > 0) return answer
    stale += 1
    return {
      Responses: Object.fromEntries(
        Object.entries(answer.Responses ?? {}).map(([table, items]) => [table, items.slice(1)]),
      ),
    }
  })
  try {
    const entries = [1, 2].map((i) => ({ userId: first + i, joinedAt: 1, chunk: 0 }))
    const members = owner === undefined ? [] : await readMembers(owner, entries)
    expect(members.map(({ user_id }) => user_id)).toEqual([first + 1, first + 2])
    expect(stale).toBe(1)
  } finally {
    restore()
  }
})

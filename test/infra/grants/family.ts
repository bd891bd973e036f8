import { growTree } from '../../../shared/community/growth/run.ts'
import { scopes } from '../../../shared/tokens/scopes.ts'
import { createAccessToken, newUserIds } from '../../support/community.ts'
import { join } from '../../support/community-events.ts'

/** Creates a member and their direct referral, and adds both to the member lists. `token` is the member's. */
export async function newFamily(): Promise<{ parent: number; child: number; token: string }> {
  const { parent, child } = await joinFamily()
  await growTree(parent, Date.now() + 60_000)
  return { parent, child, token: await createAccessToken(parent, [...scopes]) }
}

/** Creates a member with a direct referral. Neither of them is in a member list yet. */
export async function joinFamily(): Promise<{ parent: number; child: number }> {
  const parent = newUserIds()
  const child = parent + 1
  await join(describe(parent))
  await joinBelow(parent, child)
  return { parent, child }
}

/** Registers a direct referral of a member. */
export const joinBelow = (parent: number, userId: number): Promise<void> =>
  join({ ...describe(userId), referrerId: parent })

const describe = (userId: number) => ({
  userId,
  nickname: `member ${userId}`,
  email: `${userId}@example.com`,
  registeredAt: 1_700_000_000_000,
})

import { CommunityModel, type ModelMember } from '../../support/community-model.ts'
import { acceptedOf, mayBeLast, type SimulationRecord } from './record.ts'

/** Builds the expected community from all accepted events. */
export function communityOf(record: SimulationRecord): CommunityModel {
  const updates = acceptedOf(record, 'user.updated').sort((a, b) => a.detail.at - b.detail.at)
  const purchases = acceptedOf(record, 'package.purchased')
  const registered = acceptedOf(record, 'user.registered').map(({ detail }) => detail)
  return new CommunityModel(
    registered.map(({ user_id: userId, referrer_id: referrer, ...detail }): ModelMember => {
      const own = updates.map((update) => update.detail).filter(({ user_id }) => user_id === userId)
      const parent = registered.findIndex(({ user_id }) => user_id === referrer)
      return {
        userId,
        nickname: own.findLast(({ nickname }) => nickname !== undefined)?.nickname ?? detail.nickname,
        email: own.findLast(({ email }) => email !== undefined)?.email ?? detail.email,
        registeredAt: detail.registered_at,
        parent: parent === -1 ? undefined : parent,
        purchases: purchases
          .filter((purchase) => purchase.detail.user_id === userId)
          .map((purchase) => purchase.detail.amount),
      }
    }),
  )
}

/** The possible texts of an owner's note on a direct referral: several if the last changes overlapped. */
export function possibleNotes({ notes }: SimulationRecord, owner: number, target: number): string[] {
  const set = notes.filter(
    ({ request, answer }) => request.userId === owner && request.target === target && answer.status === 200,
  )
  return set.length === 0 ? [''] : mayBeLast(set).map(({ request }) => request.note)
}

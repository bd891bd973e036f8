import Big from 'big.js'
import { acceptedOf, mayBeLast, type SimulationRecord } from './record.ts'

/** A member of the community as it is to be. */
export interface ExpectedMember {
  userId: number
  nickname: string
  email: string
  joinedAt: number
  referrer: number | undefined
  packages: Big
}

const zero = new Big('0')

/** All members. */
export function membersOf(record: SimulationRecord): ExpectedMember[] {
  const updates = acceptedOf(record, 'user.updated').sort((a, b) => a.detail.at - b.detail.at)
  const purchases = acceptedOf(record, 'package.purchased')
  return acceptedOf(record, 'user.registered').map(({ detail }) => {
    const own = updates.filter((update) => update.detail.user_id === detail.user_id)
    return {
      userId: detail.user_id,
      nickname:
        own.findLast((update) => update.detail.nickname !== undefined)?.detail.nickname ?? detail.nickname,
      email: own.findLast((update) => update.detail.email !== undefined)?.detail.email ?? detail.email,
      joinedAt: detail.registered_at,
      referrer: detail.referrer_id,
      packages: purchases
        .filter((purchase) => purchase.detail.user_id === detail.user_id)
        .reduce((sum, purchase) => sum.plus(purchase.detail.amount), zero),
    }
  })
}

/** The level of a member below an owner; undefined if the member is not in the owner's downline. */
function levelBelow(members: readonly ExpectedMember[], owner: number, member: ExpectedMember) {
  let level = 1
  for (let at = member; at.referrer !== undefined; level += 1) {
    if (at.referrer === owner) return level
    const above = members.find(({ userId }) => userId === at.referrer)
    if (above === undefined) return undefined
    at = above
  }
  return undefined
}

/** The members of an owner's list, newest first, as the owner sees them, with the notes that may stand. */
export function listOf(record: SimulationRecord, owner: number) {
  const members = membersOf(record)
  return members
    .map((member) => ({ member, level: levelBelow(members, owner, member) }))
    .filter((entry): entry is typeof entry & { level: number } => entry.level !== undefined)
    .sort((a, b) => b.member.joinedAt - a.member.joinedAt)
    .map(({ member, level }) => {
      const below = members.filter((other) => levelBelow(members, member.userId, other) !== undefined)
      return {
        member,
        level,
        directCount: below.filter(({ referrer }) => referrer === member.userId).length,
        teamCount: below.length,
        performance: below.reduce((sum, { packages }) => sum.plus(packages), zero),
        notes: level === 1 ? possibleNotes(record, owner, member.userId) : [null],
      }
    })
}

function possibleNotes({ notes }: SimulationRecord, owner: number, target: number): string[] {
  const set = notes.filter(
    ({ request, answer }) => request.userId === owner && request.target === target && answer.status === 200,
  )
  return set.length === 0 ? [''] : mayBeLast(set).map(({ request }) => request.note)
}

/** An email address as others see it. */
export function mask(email: string): string {
  const at = email.lastIndexOf('@')
  const last = at > 2 ? email.charAt(at - 1) : ''
  return `${email.charAt(0)}***${last}${email.slice(at)}`
}

/** Whether a keyword finds a member: the beginning of a word of the nickname, or a whole email address. */
export const isFound = ({ nickname, email }: ExpectedMember, keyword: string): boolean => {
  const wanted = keyword.toLowerCase()
  const words = nickname.toLowerCase().split(/[^a-z0-9]+/)
  return (
    words.some((word) => word.startsWith(wanted)) ||
    email.toLowerCase() === wanted ||
    (wanted.length >= 3 && mask(email).toLowerCase().includes(wanted))
  )
}

import type { Member } from '../../shared/community/profile.ts'
import type { MemberFilter } from '../../shared/community/search/find.ts'
import { Big, zero } from '../../shared/money.ts'

/** A member in the community model. `parent` is the referrer's index in the list of all members. */
export interface ModelMember {
  userId: number
  nickname: string
  email: string
  registeredAt: number
  parent: number | undefined
  /** Amounts of the member's package purchases. */
  purchases: string[]
}

/** Folds a text for comparison (Unicode §3.13, NFKC_Casefold), for the letters that tests use. */
const fold = (text: string): string =>
  text.trim().toWellFormed().normalize('NFKC').toLowerCase().replaceAll('ß', 'ss').normalize('NFKC')

/** Masks an email address for display to others: keeps only the first and the last character before the @. */
function mask(email: string): string {
  const at = email.lastIndexOf('@')
  const local = Array.from(email.slice(0, at))
  return `${local[0] ?? ''}***${local.length > 2 ? (local.at(-1) ?? '') : ''}${email.slice(at)}`
}

/** Whether a member matches a keyword by the rules of the contract (section 6). */
export function matches({ nickname, email }: Pick<ModelMember, 'nickname' | 'email'>, keyword: string) {
  const wanted = fold(keyword)
  const name = fold(nickname)
  const wordStarts = Array.from(name).flatMap((character, i, characters) => {
    const before = characters[i - 1] ?? ' '
    const isStart = /[\p{L}\p{N}]/u.test(character) ? !/[\p{L}\p{M}\p{N}]/u.test(before) : before === ' '
    return isStart ? [characters.slice(i).join('')] : []
  })
  return (
    wordStarts.some((rest) => rest.startsWith(wanted)) ||
    fold(email) === wanted ||
    (Array.from(wanted).length >= 3 && fold(mask(email)).includes(wanted))
  )
}

/** A model of the community, which computes the expected answers from the whole list of members. */
export class CommunityModel {
  readonly members: readonly ModelMember[]
  readonly notes = new Map<string, string>()

  constructor(members: readonly ModelMember[]) {
    this.members = members
  }

  #level(member: ModelMember, owner: ModelMember): number | undefined {
    let steps = 0
    for (let at = member; at.parent !== undefined;) {
      at = this.members[at.parent] as ModelMember
      steps += 1
      if (at === owner) return steps
    }
    return undefined
  }

  #downline(owner: ModelMember): { member: ModelMember; level: number }[] {
    return this.members.flatMap((member) => {
      const level = this.#level(member, owner)
      return level === undefined ? [] : [{ member, level }]
    })
  }

  /** Finds all members of a list that match a filter, newest first. Days are in UTC. */
  find(owner: ModelMember, { type, keyword, beginDate, endDate }: MemberFilter): Member[] {
    return this.#downline(owner)
      .filter(({ level }) => type === 'COMMUNITY' || level === 1)
      .filter(({ member }) => keyword === undefined || matches(member, keyword))
      .filter(({ member: { registeredAt } }) => {
        const day = new Date(registeredAt).toISOString().slice(0, 10)
        return (beginDate === undefined || day >= beginDate) && (endDate === undefined || day <= endDate)
      })
      .sort((a, b) => b.member.registeredAt - a.member.registeredAt || b.member.userId - a.member.userId)
      .map(({ member, level }) => this.#show(owner, member, level))
  }

  #show(owner: ModelMember, member: ModelMember, level: number): Member {
    const downline = this.#downline(member)
    const sum = (members: readonly ModelMember[]) =>
      members
        .flatMap(({ purchases }) => purchases)
        .reduce((total, amount) => total.plus(new Big(amount)), zero)
    return {
      user_id: member.userId,
      nickname: member.nickname,
      email: mask(member.email),
      joined_at: member.registeredAt,
      level,
      direct_count: downline.filter((below) => below.level === 1).length,
      team_count: downline.length,
      package_amount: sum([member]),
      team_performance: sum(downline.map((below) => below.member)),
      note: level === 1 ? (this.notes.get(`${owner.userId} ${member.userId}`) ?? '') : null,
    }
  }
}

import { type PageRequest, toPage } from '../http/page.ts'
import { findMembers, type Start } from './find-members.ts'
import { type Member, readMembers } from './member.ts'
import type { MemberFilter } from './members-query.ts'

/** A page of the members that a filter finds, newest first. */
export async function listMembers(start: Start, filter: MemberFilter, page: PageRequest) {
  const { total, entries } = await findMembers(start, filter, {
    skip: (page.current - 1) * page.size,
    take: page.size,
  })
  const records: Member[] = start.owner === undefined ? [] : await readMembers(start.owner, entries)
  return toPage(records, total, page)
}

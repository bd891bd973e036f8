import * as v from 'valibot'
import { stringifyExact } from '../money.ts'
import { settings } from '../settings.ts'
import { findMembers, type Start } from './find-members.ts'
import { Member, readMembers } from './member.ts'
import type { MemberFilter } from './members-query.ts'

const Count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))

/** The newest members of a list, all at once. */
export const Export = v.object({
  /** How many members the filter finds, those that are left out counted. */
  total: Count,
  /** Most members of an export. */
  cap: Count,
  /** Whether any were left out. */
  truncated: v.boolean(),
  records: v.array(Member),
})
export type Export = v.InferOutput<typeof Export>

/** Lambda answers with at most 6 MB; the rest of the answer fits into what is left. */
const mostBytes = 6 * 1024 * 1024 - 64 * 1024

/** The newest members that a filter finds, as many as the cap and an answer of Lambda hold. */
export async function exportMembers(start: Start, filter: MemberFilter): Promise<Export> {
  const cap = settings().exportCap
  const { total, entries } = await findMembers(start, filter, { skip: 0, take: cap })
  const members = start.owner === undefined ? [] : await readMembers(start.owner, entries)
  const records = members.slice(0, countFitting(members))
  return { total, cap, truncated: total > records.length, records }
}

/** How many members fit, as JSON that is itself a JSON text inside the answer of the function. */
function countFitting(members: readonly Member[]): number {
  let bytes = 0
  const over = members.findIndex((member) => {
    bytes += Buffer.byteLength(JSON.stringify(stringifyExact(member)))
    return bytes > mostBytes
  })
  return over === -1 ? members.length : over
}

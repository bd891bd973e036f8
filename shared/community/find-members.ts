import * as v from 'valibot'
import { daysInOrder, endOfDay, startOfDay } from '../dates.ts'
import { readItems } from '../db/read.ts'
import type { Item } from '../db/table.ts'
import { Day } from '../fields.ts'
import { type PageRequest, pageQuery, toPage } from '../page.ts'
import { stringifyExact } from '../money.ts'
import { settings } from '../settings.ts'
import { type BTreeEntry, type MemberList, rootKey } from './counted-b-tree/node.ts'
import { type RangeResult, readRange } from './counted-b-tree/read-range.ts'
import { Member, type Profile, profileKey, readMembers, toProfile } from './member.ts'
import { findInChunks, matchesKeyword, searchText } from './search-chunks.ts'

const Filter = v.object({
  /** Part of the nickname or of the email, in any case. */
  keyword: v.optional(v.string()),
  /** First and last day of joining. */
  beginDate: v.optional(Day),
  endDate: v.optional(Day),
  type: v.optional(v.picklist(['DIRECT', 'COMMUNITY']), 'DIRECT'),
})
const PageFilter = v.object({ ...Filter.entries, ...pageQuery })

/** Which members of the caller's community are wanted. */
export type MemberFilter = v.InferOutput<typeof Filter>

const checkDates = <Query extends MemberFilter>() =>
  v.check<Query, string>(
    ({ beginDate, endDate }) => daysInOrder(beginDate, endDate),
    'must not be before beginDate',
  )

/** The query of a list of members without pages. */
export const MembersQuery = v.pipe(Filter, v.forward(checkDates<MemberFilter>(), ['endDate']))

/** The query of a page of members. */
export const MembersPageQuery = v.pipe(
  PageFilter,
  v.forward(checkDates<v.InferOutput<typeof PageFilter>>(), ['endDate']),
)

/** The range of instants that the filter's days cover. */
export const joinedRange = ({ beginDate, endDate }: Pick<MemberFilter, 'beginDate' | 'endDate'>) => ({
  from: beginDate === undefined ? undefined : startOfDay(beginDate),
  before: endDate === undefined ? undefined : endOfDay(endDate),
})

/** A list of members, its root item, and the profile of its owner. */
export interface PrefetchedList {
  list: MemberList
  root: Item | undefined
  owner: Profile | undefined
}

/** The first read of a list of members. It may run before the caller is authenticated. */
export async function prefetchMembers({ type }: MemberFilter, ownerId: number): Promise<PrefetchedList> {
  const list: MemberList = { kind: type, ownerId }
  const [root, owner] = await readItems([rootKey(list), profileKey(ownerId)])
  return { list, root, owner: owner && toProfile(owner) }
}

/** A page of the members that match a filter, newest first. */
export async function listMembers(start: PrefetchedList, filter: MemberFilter, page: PageRequest) {
  const window = { skip: (page.current - 1) * page.size, take: page.size }
  const { total, members } = await findMembers(start, filter, window)
  return toPage(members, total, page)
}

const Count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))

/** The newest members of a list in one answer. */
export const Export = v.object({
  /** Number of members that match the filter, including those left out. */
  total: Count,
  /** Maximum number of members in an export. */
  cap: Count,
  /** Whether any members were left out. */
  truncated: v.boolean(),
  records: v.array(Member),
})
export type Export = v.InferOutput<typeof Export>

/**
 * The newest members that match a filter: as many as the cap allows and an answer of a Lambda function can
 * hold.
 */
export async function exportMembers(start: PrefetchedList, filter: MemberFilter): Promise<Export> {
  const cap = settings().exportCap
  const { total, members } = await findMembers(start, filter, { skip: 0, take: cap })
  const records = members.slice(0, countFitting(members))
  return { total, cap, truncated: total > records.length, records }
}

/**
 * An answer of a Lambda function has at most 6 MB (AWS: Lambda quotas). 64 KB are for what surrounds the
 * members.
 */
const maxExportBytes = 6 * 1024 * 1024 - 64 * 1024

/** How many members fit. The body of the answer is JSON inside JSON, so each member is measured escaped. */
function countFitting(members: readonly Member[]): number {
  let bytes = 0
  const firstTooMany = members.findIndex((member) => {
    bytes += Buffer.byteLength(JSON.stringify(stringifyExact(member)))
    return bytes > maxExportBytes
  })
  return firstTooMany === -1 ? members.length : firstTooMany
}

/** The number of members that match a filter, and those in a window of them, newest first. */
async function findMembers(
  start: PrefetchedList,
  filter: MemberFilter,
  window: { skip: number; take: number },
): Promise<{ total: number; members: Member[] }> {
  const { total, entries } = await findEntries(start, filter, window)
  return { total, members: start.owner === undefined ? [] : await readMembers(start.owner, entries) }
}

async function findEntries(
  { list, root, owner }: PrefetchedList,
  filter: MemberFilter,
  window: { skip: number; take: number },
): Promise<RangeResult> {
  const range = joinedRange(filter)
  if (filter.keyword === undefined) return readRange(list, root, { ...range, ...window })
  const all = await readRange(list, root, { ...range, skip: 0, take: Infinity })
  const matches = await search(owner?.rootId ?? list.ownerId, all.entries, filter.keyword.toLowerCase())
  return { total: matches.length, entries: matches.slice(window.skip, window.skip + window.take) }
}

/**
 * Up to this many members are searched in their profiles: for a few batches, search chunks would hold mostly
 * others.
 */
const maxSearchedProfiles = 300

async function search(rootId: number, entries: BTreeEntry[], keyword: string): Promise<BTreeEntry[]> {
  if (entries.length > maxSearchedProfiles) return findInChunks(rootId, entries, keyword)
  const items = await readItems(
    entries.map(({ userId }) => profileKey(userId)),
    { consistent: true },
  )
  return entries.filter((_, i) => {
    const item = items[i]
    if (item === undefined) return false
    const { nickname, email } = toProfile(item)
    return matchesKeyword(searchText(nickname, email), keyword)
  })
}

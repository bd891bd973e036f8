import * as v from 'valibot'
import { daysInOrder, endOfDay, startOfDay } from '../dates.ts'
import { readItems } from '../db/read.ts'
import type { Item } from '../db/table.ts'
import { Count, Day } from '../fields.ts'
import { type PageRequest, pageQuery, toPage } from '../page.ts'
import { stringifyExact } from '../stringify-exact.ts'
import { settings } from '../settings.ts'
import { type MemberList, rootKey } from './counted-b-tree/node.ts'
import { readRange } from './counted-b-tree/read-range.ts'
import { KeywordText, toKeyword } from './keyword.ts'
import { Member, type Profile, profileKey, readMembers, toProfile } from './member.ts'
import { findInChunks } from './search-chunks.ts'
import { searchByIndex, searchKeys, type SearchStart, toSearchStart } from './search-index/search-by-index.ts'
import type { SearchResult } from './search-index/search-index.ts'

const Filter = v.object({
  /** Beginning of a word of the nickname, whole email address, or part of it as masked; in any case. */
  keyword: v.optional(KeywordText),
  /** First and last day of joining, both included. */
  beginDate: v.optional(Day),
  endDate: v.optional(Day),
  type: v.optional(v.picklist(['DIRECT', 'COMMUNITY']), 'DIRECT'),
})
const PageFilter = v.object({ ...Filter.entries, ...pageQuery })

/** Filter of the members of the caller's community. */
export type MemberFilter = v.InferOutput<typeof Filter>

const checkDates = <Query extends MemberFilter>() =>
  v.check<Query, string>(
    ({ beginDate, endDate }) => daysInOrder(beginDate, endDate),
    'must not be before beginDate',
  )

/** Query parameters of the members export, which has no pages. */
export const MembersQuery = v.pipe(Filter, v.forward(checkDates<MemberFilter>(), ['endDate']))

/** Query parameters of a page of members. */
export const MembersPageQuery = v.pipe(
  PageFilter,
  v.forward(checkDates<v.InferOutput<typeof PageFilter>>(), ['endDate']),
)

/** Converts the filter's days of joining to a range of instants. */
export const joinedRange = ({ beginDate, endDate }: Pick<MemberFilter, 'beginDate' | 'endDate'>) => ({
  from: beginDate === undefined ? undefined : startOfDay(beginDate),
  before: endDate === undefined ? undefined : endOfDay(endDate),
})

/** A member list with its root item and the profile of its owner, as read before the search. */
export interface PrefetchedList {
  list: MemberList
  root: Item | undefined
  owner: Profile | undefined
  /** What a search by keyword needs besides; undefined if none is searched. */
  search: SearchStart | undefined
}

/** Reads the root of a member list and its owner's profile. It may run before the caller is authenticated. */
export async function prefetchMembers(
  { type, keyword }: MemberFilter,
  ownerId: number,
): Promise<PrefetchedList> {
  const list: MemberList = { kind: type, ownerId }
  const keys = [rootKey(list), profileKey(ownerId)]
  const wanted = keyword ? toKeyword(keyword) : undefined
  const [root, owner, ...rest] = await readItems(
    wanted === undefined ? keys : [...keys, ...searchKeys(list, wanted)],
  )
  return {
    list,
    root,
    owner: owner && toProfile(owner),
    search: wanted && toSearchStart(list, wanted, rest),
  }
}

/** Finds a page of the members that match a filter, newest first. */
export async function listMembers(start: PrefetchedList, filter: MemberFilter, page: PageRequest) {
  const window = { skip: (page.current - 1) * page.size, take: page.size }
  const { total, members } = await findMembers(start, filter, window)
  return toPage(members, total, page)
}

/** Answer of the members export: the newest members of a list. */
export const Export = v.object({
  /** Number of members that match the filter, including those left out of the export. */
  total: Count,
  /** Maximum number of members in an export. */
  cap: Count,
  /** Whether matching members were left out of the export. */
  truncated: v.boolean(),
  records: v.array(Member),
})
export type Export = v.InferOutput<typeof Export>

/** Exports the newest members that match a filter: at most the cap, and what fits into an answer. */
export async function exportMembers(start: PrefetchedList, filter: MemberFilter): Promise<Export> {
  const cap = settings().exportCap
  const { total, members } = await findMembers(start, filter, { skip: 0, take: cap })
  const records = members.slice(0, countFitting(members))
  return { total, cap, truncated: total > records.length, records }
}

/**
 * Space for members in an answer: a Lambda function can answer at most 6 MB (AWS: Lambda quotas), of which 64
 * KB are reserved for headers and envelope.
 */
const maxExportBytes = 6 * 1024 * 1024 - 64 * 1024

/** How many members fit into an answer. Its body is JSON inside JSON, so each is measured escaped. */
function countFitting(members: readonly Member[]): number {
  let bytes = 0
  const firstTooMany = members.findIndex((member) => {
    bytes += Buffer.byteLength(JSON.stringify(stringifyExact(member)))
    return bytes > maxExportBytes
  })
  return firstTooMany === -1 ? members.length : firstTooMany
}

/** Finds the members that match a filter: their number, and those in a window of them, newest first. */
async function findMembers(
  start: PrefetchedList,
  filter: MemberFilter,
  window: { skip: number; take: number },
): Promise<{ total: number; members: Member[] }> {
  const { total, entries } = await findEntries(start, filter, window)
  return { total, members: start.owner === undefined ? [] : await readMembers(start.owner, entries) }
}

/**
 * Time limit of reading a list and its texts. The last texts and the page take half a second more, so that
 * the endpoint answers within three seconds, even if `unavailable`.
 */
const maxSearchMilliseconds = 2_400

async function findEntries(
  { list, root, owner, search }: PrefetchedList,
  filter: MemberFilter,
  window: { skip: number; take: number },
): Promise<SearchResult> {
  const range = joinedRange(filter)
  if (search === undefined) return readRange(list, root, { ...range, ...window })
  const indexed = owner && (await searchByIndex(search, owner, root, { ...range, ...window }))
  if (indexed !== undefined) return indexed
  const { keyword, addressOwner, reserve } = search
  const deadline = Date.now() + maxSearchMilliseconds
  const all = await readRange(list, root, { ...range, skip: 0, take: Infinity, reserve })
  const rootId = owner?.rootId ?? list.ownerId
  const matches = await findInChunks(rootId, all.entries, keyword, { addressOwner, reserve, deadline })
  return { total: matches.length, entries: matches.slice(window.skip, window.skip + window.take) }
}

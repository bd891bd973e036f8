import * as v from 'valibot'
import { daysInOrder, endOfDay, startOfDay } from '../../dates.ts'
import { readItems } from '../../db/read.ts'
import type { Item } from '../../db/table.ts'
import { Failure } from '../../errors.ts'
import { Day } from '../../fields.ts'
import type { Found } from '../../http/export.ts'
import { type PageRequest, pageQuery, toPage } from '../../page.ts'
import { settings } from '../../settings.ts'
import { emailKey, emailOwner, normalizeEmail } from '../../users/identity.ts'
import { type BTreePosition, countOf, type MemberList, rootKey, unpackRoot } from '../list/node.ts'
import { type RangeQuery, type RangeResult, readRange } from '../list/range.ts'
import type { Member } from '../profile.ts'
import { isBelow, type Profile, profileKey, readMembers, readProfiles, toProfile } from '../profile.ts'
import { limitMisses, type ReserveUnits, searchBudgetOf } from './budget.ts'
import { indexKey, type SearchIndex, toIndex } from './index/items.ts'
import { searchIndex } from './index/search.ts'
import { type Keyword, KeywordText, matchesText, toKeyword, toSearchText } from './keyword.ts'

const Filter = v.object({
  /** Whole email address, part of a masked address, or start of a word in a nickname. Case is ignored. */
  keyword: v.optional(KeywordText),
  /** First and last join date, both included. */
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

/** Converts the join dates in the filter to a range of instants. */
const joinedRange = ({ beginDate, endDate }: Pick<MemberFilter, 'beginDate' | 'endDate'>) => ({
  from: beginDate === undefined ? undefined : startOfDay(beginDate),
  before: endDate === undefined ? undefined : endOfDay(endDate),
})

/** A member list with its root item and the profile of its owner, as read before the search. */
export interface PrefetchedList {
  list: MemberList
  root: Item | undefined
  owner: Profile | undefined
  /** The keyword, and the data for its search; undefined if the filter has no keyword. */
  search: SearchStart | undefined
}

interface SearchStart {
  keyword: Keyword
  reserve: ReserveUnits
  index: SearchIndex | undefined
  /** If the keyword is a whole email address: the user id of the address's owner. */
  addressOwner: number | undefined
}

/** Reads the items that are needed to find members. Can run while the caller is still being authenticated. */
export async function prefetchMembers(
  { type, keyword: text }: MemberFilter,
  ownerId: number,
): Promise<PrefetchedList> {
  const list: MemberList = { kind: type, ownerId }
  const keyword = text ? toKeyword(text) : undefined
  const budget = searchBudgetOf(ownerId)
  const [root, owner, spent, index, addressOwner] = await readItems([
    rootKey(list),
    profileKey(ownerId),
    ...(keyword === undefined ? [] : [budget.key, indexKey(list)]),
    ...(keyword?.address === undefined ? [] : [emailKey(keyword.address)]),
  ])
  return {
    list,
    root,
    owner: owner && toProfile(owner),
    search: keyword && {
      keyword,
      reserve: budget.reserver(spent),
      index: toIndex(index),
      addressOwner: emailOwner(addressOwner),
    },
  }
}

/** Finds a page of the members that match a filter, newest first. */
export async function listMembers(start: PrefetchedList, filter: MemberFilter, page: PageRequest) {
  const window = { skip: (page.current - 1) * page.size, take: page.size }
  const { total, members } = await findMembers(start, filter, window)
  return toPage(members, total, page)
}

/** Finds the newest members that match a filter, up to `exportCap`. */
export async function exportMembers(start: PrefetchedList, filter: MemberFilter): Promise<Found<Member>> {
  const { total, members } = await findMembers(start, filter, { skip: 0, take: settings().exportCap })
  return { total, records: members }
}

/** Counts the members who match a filter, and reads the requested ones, newest first. */
async function findMembers(
  start: PrefetchedList,
  filter: MemberFilter,
  window: { skip: number; take: number },
): Promise<{ total: number; members: Member[] }> {
  const find = async () => findEntries(start, filter, window)
  const isAddress = start.search?.keyword.address !== undefined
  const { total, entries } = await (isAddress ? limitMisses(start.list.ownerId, find) : find())
  return { total, members: start.owner === undefined ? [] : await readMembers(start.owner, entries) }
}

/**
 * Finds members. Without a keyword, reads the list. With a keyword, reads the list's index. A list without an
 * index is short, so all its profiles are searched.
 */
async function findEntries(
  { list, root, owner, search }: PrefetchedList,
  filter: MemberFilter,
  page: { skip: number; take: number },
): Promise<RangeResult> {
  const window = { ...joinedRange(filter), ...page }
  if (search === undefined) return readRange(list, root, window)
  const { keyword, reserve, addressOwner } = search
  const findOther = async () =>
    owner && addressOwner !== undefined ? findByAddress(list, keyword, owner, addressOwner) : undefined
  const attempt = async (root: Item | undefined, index: SearchIndex | undefined, consistent: boolean) => {
    const count = countIn(root)
    if (index !== undefined)
      return searchIndex(list, index, { ...window, keyword, reserve, findOther, count, consistent })
    return count <= maxProfiles ? searchProfiles(list, root, search, window) : undefined
  }
  const found = await attempt(root, search.index, false)
  if (found !== undefined) return found
  // The first read gave an outdated root or search index, so both are read again.
  const [newRoot, newIndex] = await readItems([rootKey(list), indexKey(list)], { consistent: true })
  const again = await attempt(newRoot, toIndex(newIndex), true)
  if (again === undefined) throw new Failure('unavailable', { retryAfterSeconds: 1 })
  return again
}

const countIn = (root: Item | undefined): number => countOf(unpackRoot(root).node)

/** Maximum length of a list that is searched without an index. Such a search reads all profiles. */
const maxProfiles = 400

/** A search reserves this many read units for each profile, and `otherUnits` for all other reads. */
const profileUnits = 0.5
const otherUnits = 25

/** Searches a short list: reads the profiles of all members. */
async function searchProfiles(
  list: MemberList,
  root: Item | undefined,
  { keyword, reserve }: SearchStart,
  { skip, take, ...range }: RangeQuery,
): Promise<RangeResult> {
  const { entries } = await readRange(list, root, { ...range, skip: 0, take: Infinity })
  const reservation = reserve(otherUnits + entries.length * profileUnits)
  const [profiles] = await Promise.all([readProfiles(entries), reservation])
  const matches = profiles.filter(
    (member) =>
      matchesText(toSearchText(member), keyword) || normalizeEmail(member.email) === keyword.address,
  )
  return { total: matches.length, entries: matches.slice(skip, skip + take) }
}

/** Finds the user with this id in the list, if the text search cannot find the user. */
async function findByAddress(
  list: MemberList,
  keyword: Keyword,
  owner: Profile,
  userId: number,
): Promise<BTreePosition | undefined> {
  const [item] = await readItems([profileKey(userId)])
  const member = item && toProfile(item)
  if (member === undefined || matchesText(toSearchText(member), keyword)) return undefined
  const isListed = list.kind === 'DIRECT' ? member.upline[0] === list.ownerId : await isBelow(owner, member)
  return isListed ? { joinedAt: member.joinedAt, userId } : undefined
}

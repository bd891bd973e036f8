import * as v from 'valibot'
import { daysInOrder, endOfDay, startOfDay } from '../../dates.ts'
import { readItems } from '../../db/read.ts'
import type { Item } from '../../db/table.ts'
import { Day } from '../../fields.ts'
import type { Found } from '../../http/export.ts'
import { type PageRequest, pageQuery, toPage } from '../../page.ts'
import { settings } from '../../settings.ts'
import { emailKey, emailOwner } from '../../users/identity.ts'
import { comparePositions, type ListedMember, type MemberList, rootKey, toListed } from '../list/node.ts'
import { type JoinedRange, type RangeResult, readMatches, readRange } from '../list/range.ts'
import { isBelow, type Member, type Profile, profileKey, readMembers, toProfile } from '../profile.ts'
import { limitMisses, type ReserveUnits, searchBudgetOf } from './budget.ts'
import { type Keyword, KeywordText, matchesText, toKeyword } from './keyword.ts'

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
const joinedRange = ({ beginDate, endDate }: Pick<MemberFilter, 'beginDate' | 'endDate'>): JoinedRange => ({
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
  const [root, owner, spent, addressOwner] = await readItems([
    rootKey(list),
    profileKey(ownerId),
    ...(keyword === undefined ? [] : [budget.key]),
    ...(keyword?.address === undefined ? [] : [emailKey(keyword.address)]),
  ])
  return {
    list,
    root,
    owner: owner && toProfile(owner),
    search: keyword && {
      keyword,
      reserve: budget.reserver(spent),
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
  const { address, isMasked = false } = start.search?.keyword ?? {}
  const isGuess = address !== undefined && !isMasked
  const { total, entries } = await (isGuess ? limitMisses(start.list.ownerId, find) : find())
  return { total, members: start.owner === undefined ? [] : await readMembers(start.owner, entries) }
}

/** Finds members. Without a keyword, reads the leaves of the page; with one, all leaves of the list. */
async function findEntries(
  { list, root, owner, search }: PrefetchedList,
  filter: MemberFilter,
  page: { skip: number; take: number },
): Promise<RangeResult> {
  const range = joinedRange(filter)
  if (search === undefined) return readRange(list, root, { ...range, ...page })
  const { keyword, reserve, addressOwner } = search
  const isMatch = ({ text }: ListedMember) => matchesText(text, keyword)
  let units = pageUnits
  const reserveNodes = (nodes: number) => {
    units += nodes * nodeUnits
    const reservation = reserve(units)
    units = 0
    return reservation
  }
  const [found, other] = await Promise.all([
    readMatches(list, root, { ...range, matches: isMatch, reserve: reserveNodes }),
    owner && addressOwner !== undefined ? findByAddress(list, owner, addressOwner) : undefined,
  ])
  const { from = 0, before = Infinity } = range
  const isMissing =
    other !== undefined &&
    !found.some(({ userId }) => userId === other.userId) &&
    other.joinedAt >= from &&
    other.joinedAt < before
  const all = isMissing ? [...found, other].sort((one, two) => comparePositions(two, one)) : found
  return { total: all.length, entries: all.slice(page.skip, page.skip + page.take) }
}

/** Read units of a node, read eventually consistent, and of the session, the caller and a page of members. */
const nodeUnits = 0.5
const pageUnits = 25

/** Finds the user with this id in the list: the owner of a whole address, which the list has masked only. */
async function findByAddress(
  list: MemberList,
  owner: Profile,
  userId: number,
): Promise<ListedMember | undefined> {
  const [item] = await readItems([profileKey(userId)])
  const member = item && toProfile(item)
  if (member === undefined) return undefined
  const isListed = list.kind === 'DIRECT' ? member.upline[0] === list.ownerId : await isBelow(owner, member)
  return isListed ? toListed(member) : undefined
}

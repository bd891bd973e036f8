import { readItems } from '../../db/read.ts'
import type { Item, Key } from '../../db/table.ts'
import { emailKey, emailOwner } from '../../users/email-owner.ts'
import { type BTreePosition, countOf, type MemberList, rootKey, unpackRoot } from '../counted-b-tree/node.ts'
import { type Keyword, matchesText, toSearchText } from '../keyword.ts'
import { isBelow, type Profile, profileKey, toProfile } from '../member.ts'
import { type ReserveUnits, searchBudgetKey, searchReservations } from '../search-budget.ts'
import { indexKey, type SearchIndex, toIndex } from './index-head.ts'
import { searchIndex, type SearchQuery, type SearchResult } from './search-index.ts'

/** What a search by keyword knows before it begins. */
export interface SearchStart {
  list: MemberList
  keyword: Keyword
  reserve: ReserveUnits
  /** The list's search index; undefined if it has none. */
  index: SearchIndex | undefined
  /** User id of the owner of the address that is the whole keyword. */
  addressOwner: number | undefined
}

/** The keys of the items for toSearchStart. */
export const searchKeys = (list: MemberList, { address }: Keyword): Key[] => [
  searchBudgetKey(list.ownerId),
  indexKey(list),
  ...(address === undefined ? [] : [emailKey(address)]),
]

/** Parses the items with the keys of searchKeys. */
export const toSearchStart = (
  list: MemberList,
  keyword: Keyword,
  [budget, index, owner]: readonly (Item | undefined)[],
): SearchStart => ({
  list,
  keyword,
  reserve: searchReservations(list.ownerId, budget),
  index: toIndex(index),
  addressOwner: emailOwner(owner),
})

/**
 * Searches a list by its index. If that turns out to be outdated, searches once more, strongly consistent.
 * Resolves with undefined for a list without a complete index.
 */
export async function searchByIndex(
  { list, keyword, reserve, index, addressOwner }: SearchStart,
  owner: Profile,
  root: Item | undefined,
  window: Pick<SearchQuery, 'from' | 'before' | 'skip' | 'take'>,
): Promise<SearchResult | undefined> {
  if (index === undefined || index.backfilled !== undefined) return undefined
  const findOther = async () =>
    addressOwner === undefined ? undefined : findByAddress(list, keyword, owner, addressOwner)
  const query = { ...window, keyword, reserve, findOther }
  const found = await searchIndex(list, index, { ...query, count: countIn(root), consistent: false })
  if (found !== undefined) return found
  const [newRoot, newIndex] = await readItems([rootKey(list), indexKey(list)], { consistent: true })
  const current = toIndex(newIndex)
  if (current === undefined || current.backfilled !== undefined) return undefined
  return searchIndex(list, current, { ...query, count: countIn(newRoot), consistent: true })
}

const countIn = (root: Item | undefined): number => countOf(unpackRoot(root).node)

/** The position of the owner of an address, if the list has the member and their texts do not match. */
async function findByAddress(
  list: MemberList,
  keyword: Keyword,
  owner: Profile,
  userId: number,
): Promise<BTreePosition | undefined> {
  const [item] = await readItems([profileKey(userId)])
  const member = item && toProfile(item)
  if (member?.chunk === undefined || matchesText(toSearchText(member), keyword)) return undefined
  const isListed = list.kind === 'DIRECT' ? member.upline[0] === list.ownerId : await isBelow(owner, member)
  return isListed ? { joinedAt: member.joinedAt, userId } : undefined
}

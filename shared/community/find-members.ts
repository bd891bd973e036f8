import { readItems } from '../db/read.ts'
import type { Item } from '../db/table.ts'
import { matchesKeyword, searchText } from './directory.ts'
import type { BTreeEntry } from './counted-b-tree/entry.ts'
import { type List, rootKey } from './counted-b-tree/node.ts'
import { type Range, readRange } from './counted-b-tree/read-range.ts'
import { type MemberFilter, spanOf } from './members-query.ts'
import { type Profile, profileKey, toProfile } from './profile.ts'
import { searchTexts } from './search-texts.ts'

/** Whose members are listed, and the top of their list: what one read, beside that of the session, finds. */
export interface Start {
  list: List
  top: Item | undefined
  owner: Profile | undefined
}

/** First read of a list of members; may go out before the session is known to be good. */
export async function startMembers({ type }: MemberFilter, ownerId: number): Promise<Start> {
  const list: List = { kind: type, ownerId }
  const [top, owner] = await readItems([rootKey(list), profileKey(ownerId)])
  return { list, top, owner: owner && toProfile(owner) }
}

/** The members that a filter finds, newest first: how many, and those of the wanted window. */
export async function findMembers(
  { list, top, owner }: Start,
  filter: MemberFilter,
  window: { skip: number; take: number },
): Promise<Range> {
  const span = spanOf(filter)
  if (filter.keyword === undefined) return readRange(list, top, { ...span, ...window })
  const all = await readRange(list, top, { ...span, skip: 0, take: Infinity })
  const matches = await matching(owner?.rootId ?? list.ownerId, all.entries, filter.keyword.toLowerCase())
  return { total: matches.length, entries: matches.slice(window.skip, window.skip + window.take) }
}

/** Lists up to this long are searched in the profiles themselves: a few batches, and no chunk with strangers in it. */
const mostProfiles = 300

async function matching(rootId: number, entries: BTreeEntry[], keyword: string): Promise<BTreeEntry[]> {
  if (entries.length > mostProfiles) return searchTexts(rootId, entries, keyword)
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

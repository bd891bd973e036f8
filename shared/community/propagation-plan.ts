import type { Write } from '../db/write.ts'
import { zero } from '../money.ts'
import type { BTreeEntry, MemberList } from './counted-b-tree/node.ts'
import { toSearchText } from './keyword.ts'
import type { DownlineDelta, Profile } from './member.ts'
import type { IndexedMember } from './search-index/members-item.ts'
import type { JournalEntry, TreeHead } from './tree-journal.ts'

// This file holds the decisions of propagateToAncestors, without reads or writes.

/** Maximum number of journal entries in a batch: one transaction must be able to delete all of them. */
export const maxBatchEntries = 50

/**
 * Maximum number of new members in a batch. Each changes up to six nodes of a list, and one transaction must
 * be able to write all changed nodes of a list.
 */
const maxNewMembers = 12

/** Selects the next batch: the oldest journal entries, as many as a batch may have. */
export function selectBatch(entries: readonly JournalEntry[]): JournalEntry[] {
  let newMembers = 0
  return entries.filter(({ joined }) => {
    if (joined) newMembers += 1
    return newMembers <= maxNewMembers
  })
}

/** A journal entry, the profile of its member, and all ancestors of the member, the referrer first. */
export interface BatchEntry {
  entry: JournalEntry
  profile: Profile
  ancestors: number[]
}

/** A new member as lists and search indexes keep them. */
export type NewMember = BTreeEntry & IndexedMember

/** A change of one member list of an ancestor. The counts and sum change with the COMMUNITY list. */
export interface AncestorUpdate {
  list: MemberList
  newMembers: NewMember[]
  delta?: DownlineDelta
}

/**
 * Adds up a batch of journal entries to one or two updates for each ancestor. No two updates write the same
 * item. The same batch always gives the same updates in the same order, so that an interrupted batch can
 * continue.
 */
export function planPropagation(
  batch: readonly BatchEntry[],
  chunkByUser: ReadonlyMap<number, number | undefined>,
): AncestorUpdate[] {
  const ancestors = new Map<number, { delta: DownlineDelta; team: NewMember[]; directs: NewMember[] }>()
  for (const { entry, profile, ancestors: ownerIds } of batch) {
    if (entry.renamed) continue
    const member = entry.joined ? toNewMember(profile, chunkByUser) : undefined
    for (const [steps, ownerId] of ownerIds.entries()) {
      const noChange = { delta: { directs: 0, members: 0, performance: zero }, team: [], directs: [] }
      const { delta, team, directs } = ancestors.get(ownerId) ?? noChange
      ancestors.set(ownerId, { delta, team, directs })
      delta.performance = delta.performance.plus(entry.amount)
      if (member === undefined) continue
      team.push(member)
      delta.members += 1
      if (steps > 0) continue
      directs.push(member)
      delta.directs += 1
    }
  }
  return [...ancestors].flatMap(([ownerId, { delta, team, directs }]) => {
    const community: AncestorUpdate = { list: { kind: 'COMMUNITY', ownerId }, newMembers: team, delta }
    const direct: AncestorUpdate = { list: { kind: 'DIRECT', ownerId }, newMembers: directs }
    return directs.length === 0 ? [community] : [community, direct]
  })
}

function toNewMember(profile: Profile, chunkByUser: ReadonlyMap<number, number | undefined>): NewMember {
  const chunk = chunkByUser.get(profile.userId)
  if (chunk === undefined) throw new Error('a new member has no search chunk')
  return { ...toIndexed(profile), chunk }
}

const toIndexed = (profile: Profile): IndexedMember => ({
  userId: profile.userId,
  joinedAt: profile.joinedAt,
  text: toSearchText(profile),
})

/** The members of a batch with new names or addresses, by the lists that they are in. */
export function planRenames(batch: readonly BatchEntry[]): { list: MemberList; members: IndexedMember[] }[] {
  const renamed = batch.filter(({ entry }) => entry.renamed)
  const listings = renamed.flatMap(({ profile, ancestors }) => {
    const community = ancestors.map((ownerId): MemberList => ({ kind: 'COMMUNITY', ownerId }))
    const direct = ancestors.slice(0, 1).map((ownerId): MemberList => ({ kind: 'DIRECT', ownerId }))
    return [...community, ...direct].map((list) => ({ list, member: toIndexed(profile) }))
  })
  const byList = Map.groupBy(listings, ({ list: { kind, ownerId } }) => `${kind} ${ownerId}`)
  return [...byList.values()].flatMap((group) =>
    group.slice(0, 1).map(({ list }) => ({ list, members: group.map(({ member }) => member) })),
  )
}

/** A group of writes that must be in one transaction, and the progress of the batch once they are made. */
export interface WriteGroup {
  writes: Write[]
  progress: Pick<TreeHead, 'batch' | 'done' | 'due'>
}

/**
 * Packs groups of writes, in order, into as few transactions as possible: at most `maxWrites` writes each,
 * and none with two writes of one item, which DynamoDB refuses (AWS: TransactWriteItems).
 */
export async function* packTransactions(
  groups: AsyncIterable<WriteGroup> | Iterable<WriteGroup>,
  maxWrites: number,
): AsyncGenerator<WriteGroup> {
  let open: WriteGroup | undefined
  for await (const group of groups) {
    const writes: Write[] = [...(open?.writes ?? []), ...group.writes]
    const fits = writes.length <= maxWrites && new Set(writes.map(itemOf)).size === writes.length
    if (open !== undefined && !fits) yield open
    open = open === undefined || !fits ? group : { writes, progress: group.progress }
  }
  if (open !== undefined) yield open
}

function itemOf({ Put, Update, Delete, ConditionCheck }: Write): string {
  const key = Put?.Item ?? Update?.Key ?? Delete?.Key ?? ConditionCheck?.Key
  return `${String(key?.['pk'])} ${String(key?.['sk'])}`
}

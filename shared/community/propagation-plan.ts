import type { Write } from '../db/write.ts'
import { type Big, zero } from '../money.ts'
import { type BTreeEntry, comparePositions, type MemberList } from './counted-b-tree/node.ts'
import { maxBatchMembers } from './downline-growth.ts'
import { toSearchText } from './keyword.ts'
import type { Profile } from './member.ts'
import type { IndexedMember } from './search-index/members-item.ts'
import type { JournalEntry } from './tree-journal.ts'

// This file holds the decisions of propagateToAncestors, without reads or writes.

/** Maximum number of journal entries in a batch: the tree's head holds all of them, in some 80 KB. */
export const maxBatchEntries = 2_000

/** Maximum number of new names in a batch. Each edits dozens of blocks of every ancestor's search index. */
const maxRenames = 20

/** Selects the next batch: the oldest journal entries, as many of each kind as a batch may have. */
export function selectBatch(entries: readonly JournalEntry[]): JournalEntry[] {
  let newMembers = 0
  let renames = 0
  return entries.filter(({ joined, renamed }) => {
    if (joined) newMembers += 1
    if (renamed) renames += 1
    return joined ? newMembers <= maxBatchMembers : !renamed || renames <= maxRenames
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

/** What a batch adds to a member list. */
export interface ListUpdate {
  list: MemberList
  newMembers: NewMember[]
}

/** What a batch adds to an ancestor. */
export interface AncestorUpdate {
  ownerId: number
  /**
   * How many of the new members the ancestor has, and then the purchases too; nothing of the batch if
   * zero.
   */
  done: number
  /** The COMMUNITY list, and the DIRECT list if it changes. */
  lists: ListUpdate[]
  /** Sum of the downline's purchases. */
  performance: Big
}

/** Number of new members that an update adds, some of them perhaps already. */
export const countMembers = ({ lists }: AncestorUpdate): number => lists[0]?.newMembers.length ?? 0

/**
 * Adds up a batch of journal entries to one update for each ancestor. No two updates write the same item. The
 * same batch always gives the same updates with their members in the same order, so that a batch can go on.
 */
export function planPropagation(
  batch: readonly BatchEntry[],
  chunkByUser: ReadonlyMap<number, number | undefined>,
): AncestorUpdate[] {
  const ancestors = new Map<number, { performance: Big; team: NewMember[]; directs: NewMember[] }>()
  for (const { entry, profile, ancestors: ownerIds } of batch) {
    if (entry.renamed) continue
    const member = entry.joined ? toNewMember(profile, chunkByUser) : undefined
    for (const [steps, ownerId] of ownerIds.entries()) {
      const update = ancestors.get(ownerId) ?? { performance: zero, team: [], directs: [] }
      ancestors.set(ownerId, update)
      update.performance = update.performance.plus(entry.amount)
      if (member === undefined) continue
      update.team.push(member)
      if (steps === 0) update.directs.push(member)
    }
  }
  return [...ancestors].map(([ownerId, { performance, team, directs }]) => {
    const community: ListUpdate = { list: { kind: 'COMMUNITY', ownerId }, newMembers: team }
    const direct: ListUpdate = { list: { kind: 'DIRECT', ownerId }, newMembers: directs }
    return { ownerId, done: 0, performance, lists: directs.length === 0 ? [community] : [community, direct] }
  })
}

/** Sorts a batch by when its members joined: those who come last into a list leave its nodes full. */
export const sortBatch = (batch: readonly BatchEntry[]): BatchEntry[] =>
  batch.toSorted((one, other) => comparePositions(one.profile, other.profile))

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

/**
 * Splits updates, which are prepared in parallel, into parts whose nodes fit into memory: in a deep tree each
 * new member has thousands of ancestors.
 */
export function splitUpdates(updates: readonly AncestorUpdate[]): AncestorUpdate[][] {
  const parts: AncestorUpdate[][] = []
  let room = 0
  for (const update of updates) {
    const size = 1 + countMembers(update)
    if (size > room) {
      parts.push([])
      room = maxPrepared
    }
    room -= size
    parts.at(-1)?.push(update)
  }
  return parts
}

/** Maximum number of updates that are prepared at a time, together with the members in them. */
const maxPrepared = 10_000

/**
 * Packs groups of writes into transactions of at most `maxWrites`, without splitting a group. No two groups
 * may write the same item.
 */
export function packGroups(groups: readonly Write[][], maxWrites: number): Write[][] {
  const transactions: Write[][] = []
  for (const group of groups) {
    const open = transactions.at(-1)
    if (open === undefined || open.length + group.length > maxWrites) transactions.push([...group])
    else open.push(...group)
  }
  return transactions
}

/** Whether no two of some writes write the same item, as one transaction must (AWS: TransactWriteItems). */
export const areDistinct = (writes: readonly Write[]): boolean =>
  new Set(writes.map(itemOf)).size === writes.length

function itemOf({ Put, Update, Delete, ConditionCheck }: Write): string {
  const key = Put?.Item ?? Update?.Key ?? Delete?.Key ?? ConditionCheck?.Key
  return `${String(key?.['pk'])} ${String(key?.['sk'])}`
}

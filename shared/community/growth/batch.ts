import type { Write } from '../../db/write.ts'
import { type Big, zero } from '../../money.ts'
import { comparePositions, type ListedMember, type MemberList, toListed } from '../list/node.ts'
import { type Profile, readProfile } from '../profile.ts'
import type { JournalEntry } from './journal.ts'

/**
 * Maximum number of journal entries in a batch. They are all stored in one item, the tree's head, where they
 * take about 50 KB.
 */
export const maxBatchEntries = 500

/** Maximum number of renames in a batch, so that those in one list fit into one transaction. */
const maxRenames = 20

/** Selects a batch from the oldest journal entries. Leaves out all renames after the first `maxRenames`. */
export function selectBatch(entries: readonly JournalEntry[]): JournalEntry[] {
  const later = new Set(entries.filter(({ renamed }) => renamed).slice(maxRenames))
  return entries.filter((entry) => !later.has(entry))
}

/** A journal entry, the profile of its member, and all ancestors of the member, the referrer first. */
export interface BatchEntry {
  entry: JournalEntry
  profile: Profile
  ancestors: number[]
}

/**
 * Reads the user of each journal entry, and all ancestors of the user. Sorts the entries by the time of
 * joining, because this order fills the nodes of a list's B-tree best.
 */
export async function readBatch(entries: readonly JournalEntry[]): Promise<BatchEntry[]> {
  const batch = await Promise.all(entries.map(withAncestors))
  return batch.sort((one, other) => comparePositions(one.profile, other.profile))
}

async function withAncestors(entry: JournalEntry): Promise<BatchEntry> {
  const profile = await readMember(entry.user_id)
  const ancestors = [...profile.upline]
  while (ancestors.length < profile.depth) {
    const { upline } = await readMember(ancestors.at(-1) ?? profile.rootId)
    if (upline.length === 0) throw new Error('an upline ends before its root')
    ancestors.push(...upline)
  }
  return { entry, profile, ancestors }
}

async function readMember(userId: number): Promise<Profile> {
  const profile = await readProfile(userId)
  if (profile === undefined) throw new Error('a member of a tree has no profile')
  return profile
}

/** The changes that one ancestor gets from a batch of journal entries. */
export interface AncestorUpdate {
  ownerId: number
  /** The batch's new members in the ancestor's downline. */
  team: ListedMember[]
  /** How many members of `team` are already in the ancestor's lists. */
  done: number
  /** The new members who are direct referrals of the ancestor. */
  directs: Set<ListedMember>
  /**
   * Sum of the batch's purchases in the ancestor's downline. Only the first transaction of the update adds
   * this sum to the ancestor.
   */
  performance: Big
}

/**
 * Sums up a batch of journal entries as one update for each ancestor. No two updates write the same item. The
 * same batch always gives the same updates, and the same order of members in each, so an interrupted batch
 * can be continued.
 */
export function planGrowth(batch: readonly BatchEntry[]): AncestorUpdate[] {
  const updates = new Map<number, AncestorUpdate>()
  for (const { entry, profile, ancestors } of batch) {
    if (entry.renamed) continue
    const member = entry.joined ? toListed(profile) : undefined
    for (const [steps, ownerId] of ancestors.entries()) {
      const update = updates.get(ownerId) ?? {
        ownerId,
        team: [],
        done: 0,
        directs: new Set(),
        performance: zero,
      }
      updates.set(ownerId, update)
      update.performance = update.performance.plus(entry.amount ?? zero)
      if (member === undefined) continue
      update.team.push(member)
      if (steps === 0) update.directs.add(member)
    }
  }
  return [...updates.values()]
}

/** Groups the renamed members of a batch by the member lists that contain them. */
export function planRenames(batch: readonly BatchEntry[]): { list: MemberList; members: ListedMember[] }[] {
  const byList = new Map<string, { list: MemberList; members: ListedMember[] }>()
  for (const { entry, profile, ancestors } of batch) {
    if (!entry.renamed) continue
    const lists = ancestors.map((ownerId): MemberList => ({ kind: 'COMMUNITY', ownerId }))
    for (const ownerId of ancestors.slice(0, 1)) lists.push({ kind: 'DIRECT', ownerId })
    for (const list of lists) {
      const name = `${list.kind} ${list.ownerId}`
      const { members } = byList.get(name) ?? { members: [] }
      byList.set(name, { list, members: [...members, toListed(profile)] })
    }
  }
  return [...byList.values()]
}

/**
 * Packs groups of writes into transactions of at most `maxWrites`, without splitting a group. Different
 * groups must not write the same item.
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

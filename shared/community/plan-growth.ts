import type { Write } from '../db/write.ts'
import { zero } from '../money.ts'
import type { JournalEntry } from './journal.ts'
import { CountedBTree, type ReadItem } from './counted-b-tree/counted-b-tree.ts'
import type { ListKind, BTreeShape } from './counted-b-tree/node.ts'
import { addDownlineDelta, type DownlineDelta, type Profile } from './profile.ts'

/** A journal entry, the member it is about, and all their ancestors, the referrer first. */
export interface Rising {
  entry: JournalEntry
  profile: Profile
  ancestors: number[]
}

/** What goes into one transaction or another, but not into two: the writes for one list of one ancestor. */
export type Piece = (chunkOf: ReadonlyMap<number, number>, read: ReadItem) => Promise<Write[]>

/**
 * Folds a batch into one addition for each ancestor, and into the members who join each of their lists. The same batch
 * gives the same pieces in the same order, whenever it is planned. No two pieces touch the same item.
 */
export function planPropagation(batch: readonly Rising[], shape: BTreeShape): Piece[] {
  const byAncestor = new Map<number, { growth: DownlineDelta; team: Profile[]; directs: Profile[] }>()
  for (const { entry, profile, ancestors } of batch) {
    ancestors.forEach((ancestor, steps) => {
      const known = byAncestor.get(ancestor) ?? {
        growth: { directs: 0, members: 0, performance: zero },
        team: [],
        directs: [],
      }
      known.growth.performance = known.growth.performance.plus(entry.amount)
      if (entry.joined) {
        known.growth.members += 1
        known.team.push(profile)
        if (steps === 0) known.growth.directs += 1
        if (steps === 0) known.directs.push(profile)
      }
      byAncestor.set(ancestor, known)
    })
  }
  return [...byAncestor].flatMap(([ancestor, { growth, team, directs }]) => {
    const community: Piece = async (...context) => [
      addDownlineDelta(ancestor, growth),
      ...(await joinList('COMMUNITY', ancestor, team, shape)(...context)),
    ]
    return directs.length === 0 ? [community] : [community, joinList('DIRECT', ancestor, directs, shape)]
  })
}

const joinList =
  (kind: ListKind, ownerId: number, members: readonly Profile[], shape: BTreeShape): Piece =>
  async (chunkOf, read) => {
    if (members.length === 0) return []
    const draft = await CountedBTree.open({ kind, ownerId }, read, shape)
    for (const { userId, joinedAt } of members) {
      const chunk = chunkOf.get(userId)
      if (chunk === undefined) throw new Error('a newcomer has no search text')
      await draft.insert({ joinedAt, userId, chunk })
    }
    return draft.writes()
  }

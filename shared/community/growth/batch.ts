import { setImmediate as endOfTurn } from 'node:timers/promises'
import { keyText, readItems } from '../../db/read.ts'
import type { Item, Key } from '../../db/table.ts'
import type { ReadItem } from '../list/tree.ts'
import { type Profile, profileKey, toProfile } from '../profile.ts'
import type { BatchEntry } from './plan.ts'
import type { JournalEntry } from './journal.ts'

/** Looks up the members of journal entries with all ancestors: a read per `maxUplineLength` ancestors. */
export const readBatch = (entries: readonly JournalEntry[], read: ReadItem): Promise<BatchEntry[]> =>
  Promise.all(entries.map((entry) => withAncestors(entry, read)))

async function withAncestors(entry: JournalEntry, read: ReadItem): Promise<BatchEntry> {
  const readMember = async (userId: number): Promise<Profile> => {
    const item = await read(profileKey(userId))
    if (item === undefined) throw new Error('a member of a tree has no profile')
    return toProfile(item)
  }
  const profile = await readMember(entry.userId)
  const ancestors = [...profile.upline]
  while (ancestors.length < profile.depth) {
    const { upline } = await readMember(ancestors.at(-1) ?? profile.rootId)
    if (upline.length === 0) throw new Error('an upline ends before its root')
    ancestors.push(...upline)
  }
  return { entry, profile, ancestors }
}

/**
 * A reader that collects the keys requested in one turn of the event loop and reads them in one batch, so
 * that code which reads items one by one in parallel shares its round trips. It reads no item twice. Reads
 * are strongly consistent.
 */
export function batchReader(): ReadItem {
  const known = new Map<string, Promise<Item | undefined>>()
  let batch: { keys: Key[]; items: Promise<(Item | undefined)[]> } | undefined
  const openBatch = () => {
    const keys: Key[] = []
    const items = endOfTurn().then(() => {
      batch = undefined
      return readItems(keys, { consistent: true })
    })
    return { keys, items }
  }
  return (key) => {
    const name = keyText(key)
    const earlier = known.get(name)
    if (earlier !== undefined) return earlier
    batch ??= openBatch()
    const index = batch.keys.push(key) - 1
    const item = batch.items.then((items) => items[index])
    known.set(name, item)
    return item
  }
}

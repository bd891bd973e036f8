import { readItems } from '../db/read.ts'
import type { Item } from '../db/table.ts'
import type { Key } from '../db/table.ts'
import type { ReadItem } from './counted-b-tree/counted-b-tree.ts'

/**
 * Reads items one by one as far as the caller can tell: what is asked for at the same time goes out in one batch, and
 * nothing is read twice. Reads are consistent.
 */
export function batchReader(): ReadItem {
  const known = new Map<string, Promise<Item | undefined>>()
  let waiting: { key: Key; resolve: (item: Promise<Item | undefined>) => void }[] = []
  const flush = () => {
    const asked = waiting
    waiting = []
    const items = readItems(
      asked.map(({ key }) => key),
      { consistent: true },
    )
    asked.forEach(({ resolve }, i) => resolve(items.then((all) => all[i])))
  }
  return (key) => {
    const name = `${key.pk} ${key.sk}`
    const before = known.get(name)
    if (before !== undefined) return before
    const item = new Promise<Item | undefined>((resolve) => {
      if (waiting.length === 0) setImmediate(flush)
      waiting.push({ key, resolve })
    })
    known.set(name, item)
    return item
  }
}

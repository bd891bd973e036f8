import { beforeAll, expect, it } from 'vitest'
import { describeItems } from '../../../infra/catalogue/items.ts'
import { itemTypes } from '../../../shared/db/item-type.ts'
import { indexPartitions, partitions } from '../../../shared/db/partitions.ts'

// Loads every file that declares a kind of item.
beforeAll(() => describeItems())

/** Returns what keys of a template can begin with (up to the first `#`). `{list}` stands for DIR or TEAM. */
const beginnings = (template: string): string[] => {
  const beginning = /^[^#]*#?/.exec(template)?.[0] ?? ''
  return beginning === '{list}#' ? ['DIR#', 'TEAM#'] : [beginning]
}

it('`partitions` lists the partition-key prefix of every item type, and nothing else', () => {
  const found = new Set(itemTypes.flatMap(({ pk }) => beginnings(pk)))
  expect([...found].sort()).toEqual([...partitions].sort())
})

it('`indexPartitions` lists exactly the partition-key prefixes that occur only in the secondary index', () => {
  const found = new Set(itemTypes.flatMap(({ gpk }) => (gpk === undefined ? [] : beginnings(gpk))))
  const others = [...found].filter((name) => !(partitions as readonly string[]).includes(name))
  expect(others.sort()).toEqual([...indexPartitions].sort())
})

it('no partition-key prefix begins with another partition-key prefix', () => {
  for (const name of [...partitions, ...indexPartitions])
    for (const other of [...partitions, ...indexPartitions])
      if (name !== other && name.endsWith('#'))
        expect(other.startsWith(name), `${name} and ${other}`).toBe(false)
})

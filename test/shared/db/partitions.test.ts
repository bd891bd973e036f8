import { beforeAll, expect, it } from 'vitest'
import { describeItems } from '../../../infra/catalogue/items.ts'
import { itemTypes } from '../../../shared/db/item-type.ts'
import { indexPartitions, partitions } from '../../../shared/db/partitions.ts'

// Loads every file that declares a kind of item.
beforeAll(() => describeItems())

/** The beginning of a key template, up to the first `#`. `{list}` stands for both DIR and TEAM. */
const beginnings = (template: string): string[] => {
  const beginning = /^[^#]*#?/.exec(template)?.[0] ?? ''
  return beginning === '{list}#' ? ['DIR#', 'TEAM#'] : [beginning]
}

it('the list of partitions has exactly the prefixes of all item types’ partition keys', () => {
  const found = new Set(itemTypes.flatMap(({ pk }) => beginnings(pk)))
  expect([...found].sort()).toEqual([...partitions].sort())
})

it('the list of index partitions has exactly the partitions of the index that are not partitions of the table', () => {
  const found = new Set(itemTypes.flatMap(({ gpk }) => (gpk === undefined ? [] : beginnings(gpk))))
  const others = [...found].filter((name) => !(partitions as readonly string[]).includes(name))
  expect(others.sort()).toEqual([...indexPartitions].sort())
})

it('no pattern of one partition matches the keys of another', () => {
  for (const name of [...partitions, ...indexPartitions])
    for (const other of [...partitions, ...indexPartitions])
      if (name !== other && name.endsWith('#'))
        expect(other.startsWith(name), `${name} and ${other}`).toBe(false)
})

import { expect, it } from 'vitest'
import { findItem, readItem } from '../../../shared/db/read.ts'
import { writeItem } from '../../../shared/db/write.ts'
import { useMemoryTable } from '../../support/memory-table.ts'

useMemoryTable(() => () => 900)

it('an item that was written a moment ago is found although an eventually consistent read misses it', async () => {
  const key = { pk: 'a', sk: 'a' }
  await writeItem({ Put: { Item: key } })
  expect(await readItem(key)).toBeUndefined()
  expect(await findItem(key)).toEqual(key)
  expect(await findItem({ pk: 'b', sk: 'b' })).toBeUndefined()
})

import { expect, it } from 'vitest'
import { findNothing } from '../../../shared/db/find-nothing.ts'
import { readItem, readItems } from '../../../shared/db/read.ts'
import { writeItem } from '../../../shared/db/write.ts'

const key = { pk: 'TEST#find-nothing', sk: 'TEST' }

it('findNothing hides all items while its callback runs, and shows them again afterwards, even if the callback fails', async () => {
  await writeItem({ Put: { Item: key } })
  expect(await findNothing(() => readItem(key))).toBeUndefined()
  expect(await readItem(key)).toEqual(key)
  const failing = findNothing(async () => {
    expect(await readItems([key, key])).toEqual([undefined, undefined])
    throw new Error('on the way')
  })
  await expect(failing).rejects.toThrow('on the way')
  expect(await readItem(key)).toEqual(key)
})

import { expect, it } from 'vitest'
import { findNothing } from '../../../shared/db/find-nothing.ts'
import { readItem, readItems } from '../../../shared/db/read.ts'
import { writeItem } from '../../../shared/db/write.ts'

const key = { pk: 'TEST#find-nothing', sk: 'TEST' }

it('findNothing hides all items while its callback runs', async () => {
  await writeItem({ Put: { Item: key } })
  expect(await findNothing(() => readItem(key))).toBeUndefined()
  expect(await findNothing(() => readItems([key, key]))).toEqual([undefined, undefined])
})

it.each([
  ['ends', async () => undefined],
  ['fails', () => Promise.reject(new Error('on the way'))],
])('findNothing shows all items again when its callback %s', async (_how, callback) => {
  await writeItem({ Put: { Item: key } })
  await Promise.allSettled([findNothing(callback)])
  expect(await readItem(key)).toEqual(key)
})

it('findNothing fails as its callback fails', async () => {
  const failing = findNothing(() => Promise.reject(new Error('on the way')))
  await expect(failing).rejects.toThrow('on the way')
})

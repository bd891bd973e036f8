import { expect, it } from 'vitest'
import { inBatches } from '../../shared/in-batches.ts'

it.each([
  [0, []],
  [1, [[1]]],
  [3, [[1, 2, 3]]],
  [7, [[1, 2, 3], [4, 5, 6], [7]]],
])('%i items come in batches of three', async (length, batches) => {
  const items = async function* () {
    for (let i = 1; i <= length; i += 1) yield i
  }
  expect(await Array.fromAsync(inBatches(items(), 3))).toEqual(batches)
})

it('no item is read before its batch is asked for', async () => {
  let read = 0
  const items = async function* () {
    for (;;) yield (read += 1)
  }
  for await (const batch of inBatches(items(), 3)) if (batch.includes(6)) break
  expect(read).toBe(6)
})

import { setTimeout } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { forEachConcurrently } from '../../shared/for-each-concurrently.ts'

const numbers = [1, 2, 3, 4, 5, 6, 7]
async function* later() {
  for (const number of numbers) yield setTimeout(1, number)
}

it.each([
  ['a list', () => numbers],
  ['a list that is still being read', later],
])('each item of %s is processed once, and at most three at the same time', async (_what, items) => {
  const done: number[] = []
  let running = 0
  let most = 0
  await forEachConcurrently(items(), 3, async (number) => {
    most = Math.max(most, (running += 1))
    await setTimeout(20)
    running -= 1
    done.push(number)
  })
  expect(done.sort()).toEqual(numbers)
  expect(most).toBe(3)
})

it('if one item fails, no further item is started', async () => {
  const begun: number[] = []
  const act = async (number: number) => {
    begun.push(number)
    await setTimeout(number)
    if (number === 2) throw new Error('two')
  }
  await expect(forEachConcurrently(numbers, 3, act)).rejects.toThrow('two')
  const before = [...begun]
  await setTimeout(20)
  expect(begun).toEqual(before)
  expect(begun).not.toContain(7)
})

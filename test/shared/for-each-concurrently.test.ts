import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { forEachConcurrently } from '../../shared/for-each-concurrently.ts'

const numbers = [1, 2, 3, 4, 5, 6, 7]
async function* later() {
  for (const number of numbers) yield setTimeout(1, number)
}

describe.each([
  ['a list', () => numbers],
  ['a list that is still being read', later],
])('of %s', (_what, items) => {
  it('each item is processed once', async () => {
    const done: number[] = []
    await forEachConcurrently(items(), 3, async (number) => void done.push(number))
    expect(done.sort()).toEqual(numbers)
  })

  it('at most three items are processed at the same time', async () => {
    let running = 0
    let most = 0
    await forEachConcurrently(items(), 3, async () => {
      most = Math.max(most, (running += 1))
      await setTimeout(20)
      running -= 1
    })
    expect(most).toBe(3)
  })
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

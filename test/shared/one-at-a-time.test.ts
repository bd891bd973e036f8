import { expect, it } from 'vitest'
import { oneAtATime } from '../../shared/one-at-a-time.ts'

/** Work that ends when it is told to, and notes when it begins. */
function controlledWork(name: string, begun: string[]) {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const work = () => {
    begun.push(name)
    return promise
  }
  return { work, end: () => resolve(name), fail: () => reject(new Error(name)) }
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

it('work for one key begins when the earlier work for it has ended, in order', async () => {
  const begun: string[] = []
  const run = oneAtATime<number>()
  const first = controlledWork('first', begun)
  const second = controlledWork('second', begun)
  const third = controlledWork('third', begun)
  const results = [first, second, third].map(({ work }) => run(1, work))
  await settle()
  expect(begun).toEqual(['first'])
  first.end()
  await settle()
  expect(begun).toEqual(['first', 'second'])
  second.end()
  third.end()
  expect(await Promise.all(results)).toEqual(['first', 'second', 'third'])
})

/** Work that fails, and work for the same key behind it. */
function runBehindFailure() {
  const run = oneAtATime<number>()
  const failing = controlledWork('failing', [])
  const next = controlledWork('next', [])
  const results = { failed: run(1, failing.work), done: run(1, next.work) }
  failing.fail()
  next.end()
  return results
}

it('work that fails rejects', async () => {
  const { failed, done } = runBehindFailure()
  await expect(failed).rejects.toThrow('failing')
  await done
})

it('work that fails does not keep later work from its turn', async () => {
  const { failed, done } = runBehindFailure()
  await failed.catch(() => undefined)
  expect(await done).toBe('next')
})

it('work for another key does not wait', async () => {
  const begun: string[] = []
  const run = oneAtATime<number>()
  const one = controlledWork('one', begun)
  const other = controlledWork('other', begun)
  const waiting = run(1, one.work)
  other.end()
  expect(await run(2, other.work)).toBe('other')
  one.end()
  await waiting
})

it('nothing is kept of a key whose work has ended, even if it failed', async () => {
  const newest = new Map<number, Promise<unknown>>()
  const run = oneAtATime(newest)
  const works = [run(1, async () => 'done'), run(1, () => Promise.reject(new Error('failed')))]
  expect(newest.size).toBe(1)
  await Promise.allSettled(works)
  expect(newest.size).toBe(0)
})

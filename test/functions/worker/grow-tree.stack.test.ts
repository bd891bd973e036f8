import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { readProfile } from '../../../shared/community/profile.ts'
import { notifyTreeQueue } from '../../../shared/community/growth/queue.ts'
import { useLocalStack } from '../../support/local-stack.ts'
import { addNewcomers, addRoot } from '../../support/newcomers.ts'

/** Number of members that join at the same time. */
const backlog = 2_000
const sampleMilliseconds = 100

/** Waits until a referral tree has this many members below its root. Resolves with the milliseconds taken. */
async function watchGrowth(rootId: number, complete: number): Promise<number> {
  const startedAt = Date.now()
  let changedAt = startedAt
  let shown = 0
  while (shown < complete) {
    await wait(sampleMilliseconds)
    const { teamCount = 0 } = (await readProfile(rootId)) ?? {}
    if (teamCount > shown) changedAt = Date.now()
    shown = teamCount
    if (Date.now() - changedAt > 60_000)
      throw new Error(`the tree stands still at ${shown} of ${complete} members`)
  }
  return Date.now() - startedAt
}

test('a large backlog of one referral tree is worked off, and does not delay another referral tree', async () => {
  const { base_url: baseUrl, logFile } = await useLocalStack()
  const [large, small] = [await addRoot(), await addRoot()]
  await addNewcomers(large, backlog)
  await notifyTreeQueue(large)
  const growing = watchGrowth(large, backlog)
  await wait(1_000)
  await addNewcomers(small, 1)
  await notifyTreeQueue(small)
  const other = await watchGrowth(small, 1)
  const milliseconds = await growing
  const lines = readFileSync(logFile, 'utf8').split('\n')
  console.log(`${backlog} newcomers in ${milliseconds} ms; the other tree's newcomer after ${other} ms`)
  expect(other).toBeLessThan(30_000)

  const { dead_letters: letters } = (await (await fetch(`${baseUrl}/_local/queues`)).json()) as {
    dead_letters: { queue: string; body: string }[]
  }
  expect(letters.filter(({ body }) => body.includes(String(large)))).toEqual([])
  expect(lines.filter((line) => line.includes(String(large)) && line.includes('will be retried'))).toEqual([])
}, 600_000)

import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { readProfile } from '../../../shared/community/member.ts'
import { notifyTreeQueue } from '../../../shared/community/tree-queue.ts'
import { useLocalStack } from '../../support/local-stack.ts'
import { addNewcomers, addRoot } from '../../support/newcomers.ts'

/** Number of newcomers in the backlog: takes the worker several turns. .ci/run sets 10,000. */
const backlog = Number(process.env['BACKLOG'] ?? 2_000)
const maxPauseMilliseconds = 5_000
const sampleMilliseconds = 100

/** Watches the number of members in a root's downline until it is complete. */
async function watchGrowth(rootId: number, complete: number) {
  const startedAt = Date.now()
  let changedAt = startedAt
  let shown = 0
  let longestPause = 0
  while (shown < complete) {
    await wait(sampleMilliseconds)
    const { teamCount = 0 } = (await readProfile(rootId)) ?? {}
    longestPause = Math.max(longestPause, Date.now() - changedAt)
    if (longestPause > 60_000) throw new Error(`the tree stands still at ${shown} of ${complete} members`)
    if (teamCount > shown) changedAt = Date.now()
    shown = teamCount
  }
  return { longestPause, milliseconds: Date.now() - startedAt }
}

test('a large backlog of one tree is worked off without a pause, and does not hold up another tree', async () => {
  const { base_url: baseUrl, logFile } = await useLocalStack()
  const [large, small] = [await addRoot(), await addRoot()]
  await addNewcomers(large, backlog)
  await notifyTreeQueue(large)
  const growing = watchGrowth(large, backlog)
  await wait(1_000)
  await addNewcomers(small, 1)
  await notifyTreeQueue(small)
  const other = await watchGrowth(small, 1)
  const { longestPause, milliseconds } = await growing
  console.log(
    `${backlog} newcomers in ${milliseconds} ms, longest pause ${longestPause} ms; ` +
      `the other tree's newcomer after ${other.milliseconds} ms`,
  )
  expect(other.milliseconds).toBeLessThan(30_000)
  expect(longestPause).toBeLessThan(maxPauseMilliseconds)

  const { dead_letters: letters } = (await (await fetch(`${baseUrl}/_local/queues`)).json()) as {
    dead_letters: { queue: string; body: string }[]
  }
  expect(letters.filter(({ body }) => body.includes(String(large)))).toEqual([])
  const lines = readFileSync(logFile, 'utf8').split('\n')
  expect(lines.filter((line) => line.includes(String(large)) && line.includes('will be retried'))).toEqual([])
}, 600_000)

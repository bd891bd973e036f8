import { GetCommand } from '@aws-sdk/lib-dynamodb'
import { expect, it, vi } from 'vitest'
import { prepareGrowth, prepareRename } from '../../../../shared/community/growth/ancestor.ts'
import type { ListedMember } from '../../../../shared/community/list/node.ts'
import { toSearchText } from '../../../../shared/community/search/keyword.ts'
import { db } from '../../../../shared/db/table.ts'
import { transact } from '../../../../shared/db/write.ts'
import { zero } from '../../../../shared/money.ts'
import { smallCapacity } from '../../../support/community.ts'
import { useMemoryTable } from '../../../support/memory-table.ts'
import { tamperCalls } from '../../../support/tamper-calls.ts'

useMemoryTable()

const ownerId = 7
const memberOf = (number: number, nickname: string): ListedMember => ({
  userId: number,
  joinedAt: number,
  text: toSearchText({ nickname, email: `${number}@example.com` }),
})
const members = (from: number, to: number, nickname = 'a') =>
  Array.from({ length: to - from }, (_, i) => memberOf(from + i, nickname))

const grow = (team: ListedMember[], batch: number) =>
  prepareGrowth({ ownerId, team, done: 0, directs: new Set(), performance: zero }, batch, smallCapacity)

/** Prepares a change of a list with several levels. Returns the keys of the items that were read. */
async function readsOf(prepare: () => Promise<unknown>): Promise<string[]> {
  const send = vi.spyOn(db, 'send')
  await prepare()
  const commands = send.mock.calls.map(([command]) => command)
  send.mockRestore()
  return commands.flatMap((command) =>
    command instanceof GetCommand ? JSON.stringify(command.input.Key) : [],
  )
}

it('each node of a changing list is read once, whatever the number of its members', async () => {
  for (const [batch, from] of [10, 20, 30, 40].entries())
    await transact((await grow(members(from, from + 10), batch + 1)).writes)
  for (const prepare of [
    () => grow(members(15, 17, 'between'), 9),
    () => prepareRename({ kind: 'COMMUNITY', ownerId }, members(10, 40, 'new'), smallCapacity),
  ]) {
    const reads = await readsOf(prepare)
    expect(reads.length).toBeGreaterThan(2)
    expect(reads).toEqual([...new Set(reads)])
  }
})

it('the nodes of a list are read together, level by level', async () => {
  let [rounds, pending] = [0, 0]
  const { restore } = tamperCalls(async ({ perform }) => {
    if (pending === 0) rounds += 1
    pending += 1
    const answer = await perform()
    await new Promise(setImmediate)
    pending -= 1
    return answer
  })
  try {
    await prepareRename({ kind: 'COMMUNITY', ownerId }, members(10, 40, 'newest'), smallCapacity)
  } finally {
    restore()
  }
  expect(rounds).toBeLessThan(6)
})

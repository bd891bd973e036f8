import { SQSClient } from '@aws-sdk/client-sqs'
import { randomInt } from 'node:crypto'
import { vi } from 'vitest'
import { propagateToAncestors } from '../../shared/community/propagate-to-ancestors.ts'
import { OutOfOrderEvent } from '../../shared/events/rejected-event.ts'
import { transact } from '../../shared/db/write.ts'
import { issueAccessToken } from '../../shared/tokens/access-token.ts'
import type { Scope } from '../../shared/tokens/scopes.ts'

/** A range of user ids that no other test has. */
export const newUserIds = (): number => randomInt(1, 2 ** 30) * 1_000_000

/** Keeps growth where the test's own calls of `growTree` find it: nobody is told of it. */
export function silenceTreeQueue(): void {
  process.env['GROW_TREE_QUEUE_URL'] = 'http://queue.invalid/grow-tree.fifo'
  vi.spyOn(SQSClient.prototype, 'send').mockImplementation(() => undefined)
}

/** Applies events in the order given; one that comes too early comes again after the others, as from its queue. */
export async function deliverInOrder(events: readonly (() => Promise<void>)[]): Promise<void> {
  let waiting = [...events]
  for (let round = 0; waiting.length > 0; round += 1) {
    if (round > events.length) throw new Error('events stay too early for ever')
    const early: (() => Promise<void>)[] = []
    for (const event of waiting) {
      try {
        await event()
      } catch (error) {
        if (!(error instanceof OutOfOrderEvent)) throw error
        early.push(event)
      }
    }
    waiting = early
  }
}

/** Grows a tree as its worker does, with nodes so small that a few dozen members need several levels of them. */
export const growInSmallNodes = (rootId: number): Promise<void> =>
  propagateToAncestors(rootId, Date.now() + 60_000, { entries: 4, children: 4 })

/** An access_token of a user. */
export async function giveToken(userId: number, scopes: Scope[]): Promise<string> {
  const expiresAt = Date.now() + 3_600_000
  const { accessToken, put } = issueAccessToken({
    userId,
    clientId: 'test',
    scopes,
    firstParty: false,
    expiresAt,
    authenticatedAt: Date.now(),
  })
  await transact([put])
  return accessToken
}

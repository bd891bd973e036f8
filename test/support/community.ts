import { SQSClient } from '@aws-sdk/client-sqs'
import { randomInt } from 'node:crypto'
import { vi } from 'vitest'
import { RejectedEvent } from '../../shared/events/rejected-event.ts'
import { transact } from '../../shared/db/write.ts'
import { issueAccessToken } from '../../shared/tokens/access-token.ts'
import type { Scope } from '../../shared/tokens/scopes.ts'

/** Reserves a million user ids that no other test uses. Returns the first one. */
export const newUserIds = (): number => randomInt(1, 2 ** 30) * 1_000_000

/** Mocks SQS, so that no worker grows referral trees. Tests call `growTree` themselves. */
export function silenceTreeQueue(): void {
  process.env['GROW_TREE_QUEUE_URL'] = 'http://queue.invalid/grow-tree.fifo'
  vi.spyOn(SQSClient.prototype, 'send').mockImplementation(() => undefined)
}

/** Applies events in the given order. Then repeats those that were refused as out of order, as SQS would. */
export async function deliverInOrder(events: readonly (() => Promise<void>)[]): Promise<void> {
  let waiting = [...events]
  for (let round = 0; waiting.length > 0; round += 1) {
    if (round > events.length) throw new Error('an event stays out of order')
    const outOfOrder: (() => Promise<void>)[] = []
    for (const event of waiting) {
      try {
        await event()
      } catch (error) {
        if (!(error instanceof RejectedEvent && error.mayPass)) throw error
        outOfOrder.push(event)
      }
    }
    waiting = outOfOrder
  }
}

/** Capacity so small that even a few dozen members are split over many nodes, as a large community is. */
export const smallCapacity = 4

/** Issues an access_token for a user. By default, it belongs to a new session of the client `test`. */
export async function createAccessToken(
  userId: number,
  scopes: Scope[],
  { clientId = 'test', sessionId }: { clientId?: string; sessionId?: string } = {},
): Promise<string> {
  const now = Date.now()
  const grant = { userId, clientId, sessionId, scopes, firstParty: false, authenticatedAt: now }
  const { accessToken, put } = issueAccessToken({ ...grant, expiresAt: now + 3_600_000 })
  await transact([put])
  return accessToken
}

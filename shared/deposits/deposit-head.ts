import * as v from 'valibot'
import { Integer, type Key } from '../db/table.ts'
import type { Write } from '../db/write.ts'
import { readItem } from '../db/read.ts'

/** How many deposits a user has, by currency. */
export interface DepositHead {
  userId: number
  /** Instant of the newest, epoch milliseconds; 0 before the first. */
  lastAt: number
  counts: Map<string, number>
}

const HeadItem = v.object({ last_at: Integer, counts: v.record(v.string(), Integer) })

const headKey = (userId: number): Key => ({ pk: `DL#${userId}`, sk: 'HEAD' })

/** How many deposits a user has. */
export async function readDepositHead(userId: number, { consistent = false } = {}): Promise<DepositHead> {
  const item = await readItem(headKey(userId), { consistent })
  if (item === undefined) return { userId, lastAt: 0, counts: new Map() }
  const { last_at: lastAt, counts } = v.parse(HeadItem, item)
  return { userId, lastAt, counts: new Map(Object.entries(counts)) }
}

/** Length of the list of a currency, or of all. */
export const countDeposits = ({ counts }: DepositHead, currency?: string): number =>
  currency === undefined
    ? [...counts.values()].reduce((sum, count) => sum + count, 0)
    : (counts.get(currency) ?? 0)

/** The write that counts one more deposit, provided that nobody counted one since `head` was read. */
export function countDeposit(head: DepositHead, currency: string, at: number): Write {
  const total = countDeposits(head)
  return {
    Put: {
      Item: {
        ...headKey(head.userId),
        last_at: at,
        total: total + 1,
        counts: Object.fromEntries(new Map(head.counts).set(currency, countDeposits(head, currency) + 1)),
      },
      ...(total === 0
        ? { ConditionExpression: 'attribute_not_exists(pk)' }
        : {
            ConditionExpression: '#total = :total',
            ExpressionAttributeNames: { '#total': 'total' },
            ExpressionAttributeValues: { ':total': total },
          }),
    },
  }
}

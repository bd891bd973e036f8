import * as v from 'valibot'
import { addToSums } from '../db/exact-sum.ts'
import { readItems } from '../db/read.ts'
import { Integer } from '../db/table.ts'
import type { Write } from '../db/write.ts'
import type { Big } from '../money.ts'
import { profileKey } from './member.ts'

/** What a propagation batch adds to an ancestor: direct referrals, members, and a package amount. */
export interface DownlineDelta {
  directs: number
  members: number
  performance: Big
}

/**
 * How far a batch has been added to an ancestor: all of it up to some number of its new members. It is one
 * number in the ancestor's profile, `grown`, which rises with every batch, so nothing is added twice.
 */
export interface GrowthStep {
  /** Number of the batch. */
  batch: number
  /** How many new members the ancestor had of this batch before; none and no purchase either if zero. */
  from: number
  to: number
}

/**
 * Maximum number of new members in a batch. A batch number is an instant: 2^53 allows a thousand for each.
 */
export const maxBatchMembers = 500
const grownBy = (batch: number, members: number): number => batch * 1_000 + members

/**
 * The write that adds to the counts and the sum over an ancestor's downline. With a step, its condition fails
 * if the ancestor is not at the beginning of that step.
 */
export function addDownlineDelta(
  userId: number,
  { directs, members, performance }: DownlineDelta,
  step?: GrowthStep,
): Write {
  const { Update } = addToSums(
    profileKey(userId),
    new Map([['team_performance', performance]]),
    new Map([
      ['direct_count', directs],
      ['team_count', members],
    ]),
  )
  if (step === undefined) return { Update }
  const { batch, from, to } = step
  const isFirst = from === 0
  return {
    Update: {
      ...Update,
      UpdateExpression: `${Update.UpdateExpression} SET #grown = :to`,
      ConditionExpression: isFirst ? 'attribute_not_exists(#grown) OR #grown < :from' : '#grown = :from',
      ExpressionAttributeNames: { ...Update.ExpressionAttributeNames, '#grown': 'grown' },
      ExpressionAttributeValues: {
        ...Update.ExpressionAttributeValues,
        ':from': grownBy(batch, from),
        ':to': grownBy(batch, to),
      },
    },
  }
}

/**
 * How many of the new members of a batch each ancestor has; undefined for one to whom nothing of the batch
 * has been added. Reads strongly consistent.
 */
export async function readGrowth(
  batch: number,
  ancestorIds: readonly number[],
): Promise<Map<number, number | undefined>> {
  const items = await readItems(ancestorIds.map(profileKey), { consistent: true })
  return new Map(
    ancestorIds.map((userId, i) => {
      const grown = v.parse(v.optional(Integer), items[i]?.['grown']) ?? 0
      const members = grown - grownBy(batch, 0)
      return [userId, members < 0 ? undefined : members]
    }),
  )
}

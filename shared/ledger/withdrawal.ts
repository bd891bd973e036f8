import * as v from 'valibot'
import { Decimal, Integer, type Key, toNumberValue } from '../db/table.ts'
import type { Write } from '../db/write.ts'
import type { Big } from '../money.ts'
import { readItem } from '../db/read.ts'

export const WithdrawalStatus = v.picklist(['requested', 'settled', 'cancelled'])
export type WithdrawalStatus = v.InferOutput<typeof WithdrawalStatus>

export interface Withdrawal {
  withdrawalId: string
  userId: number
  currency: string
  amount: Big
  status: WithdrawalStatus
}

const WithdrawalItem = v.object({
  user_id: Integer,
  currency: v.string(),
  amount: Decimal,
  status: WithdrawalStatus,
})

const withdrawalKey = (withdrawalId: string): Key => ({ pk: `WD#${withdrawalId}`, sk: 'WITHDRAWAL' })

/** A withdrawal as it stands now, or undefined where nothing is known of it. */
export async function readWithdrawal(withdrawalId: string): Promise<Withdrawal | undefined> {
  const item = await readItem(withdrawalKey(withdrawalId), { consistent: true })
  if (item === undefined) return undefined
  const { user_id: userId, ...rest } = v.parse(WithdrawalItem, item)
  return { withdrawalId, userId, ...rest }
}

/** The write that brings a withdrawal to a status, provided that it still is as it was read. */
export function putWithdrawal(next: Withdrawal, before: Withdrawal | undefined): Write {
  return {
    Put: {
      Item: {
        ...withdrawalKey(next.withdrawalId),
        user_id: next.userId,
        currency: next.currency,
        amount: toNumberValue(next.amount),
        status: next.status,
      },
      ...(before === undefined
        ? { ConditionExpression: 'attribute_not_exists(pk)' }
        : {
            ConditionExpression: '#status = :before',
            ExpressionAttributeNames: { '#status': 'status' },
            ExpressionAttributeValues: { ':before': before.status },
          }),
    },
  }
}

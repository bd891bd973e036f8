import { GetCommand } from '@aws-sdk/lib-dynamodb'
import * as v from 'valibot'
import { db, Decimal, Integer, type Key, tableName, toNumberValue } from '../db/table.ts'
import type { Write } from '../db/write.ts'
import type { Big } from '../money.ts'

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
  const { Item } = await db.send(
    new GetCommand({ TableName: tableName(), Key: withdrawalKey(withdrawalId), ConsistentRead: true }),
  )
  if (Item === undefined) return undefined
  const { user_id: userId, ...rest } = v.parse(WithdrawalItem, Item)
  return { withdrawalId, userId, ...rest }
}

/** The write that brings a withdrawal to a status, provided that it still is as it was read. */
export function putWithdrawal(next: Withdrawal, before: Withdrawal | undefined): Write {
  return {
    Put: {
      TableName: tableName(),
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

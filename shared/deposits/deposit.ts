import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { instantKeys, rowKey } from '../db/numbered-list.ts'
import { Decimal, Integer, type Key, toNumberValue } from '../db/table.ts'
import type { Write } from '../db/write.ts'
import { Money } from '../money.ts'
import { readItem } from '../db/read.ts'

/** Every status of a deposit. `CREDITED` and `FAILED` are final. */
export const DepositStatus = v.picklist(['PENDING', 'CONFIRMING', 'CREDITED', 'FAILED'])
export type DepositStatus = v.InferOutput<typeof DepositStatus>

/** A deposit as its owner sees it. */
export const DepositRecord = v.object({
  id: v.string(),
  currency: v.string(),
  currency_network: v.string(),
  amount: Money,
  address: v.string(),
  tag: v.nullable(v.string()),
  txid: v.string(),
  confirmations: v.number(),
  required_confirmations: v.number(),
  status: DepositStatus,
  /** When it was first heard of, epoch milliseconds. */
  created_at: v.number(),
  /** When it was credited, epoch milliseconds; null until then. */
  credited_at: v.nullable(v.number()),
})
export type DepositRecord = v.InferOutput<typeof DepositRecord>

const DepositItem = v.object({
  ...DepositRecord.entries,
  amount: Decimal,
  confirmations: Integer,
  required_confirmations: Integer,
  created_at: Integer,
  credited_at: v.nullable(Integer),
  user_id: Integer,
  version: Integer,
  ordinal: Integer,
  currency_ordinal: Integer,
})

/** A deposit with what only the service knows of it. */
export interface Deposit {
  record: DepositRecord
  userId: number
  /** Raised by every write, from 1. */
  version: number
  /** Its number in the list of all of the user's deposits, and in that of its currency. */
  ordinal: number
  currencyOrdinal: number
}

/** Which output of which transaction on which network a deposit is. */
export interface DepositName {
  network: string
  txid: string
  outputIndex: number
}

/** The id of a deposit, which says nothing to anybody else. */
export const depositId = ({ network, txid, outputIndex }: DepositName): string =>
  createHash('sha256')
    .update(JSON.stringify([network, txid, outputIndex]))
    .digest('base64url')

/** Whether a text can be the id of a deposit at all. */
export const isDepositId = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text)

const depositKey = (id: string): Key => ({ pk: `DEP#${id}`, sk: 'DEPOSIT' })

/** The list of a user's deposits, of one currency or of all. */
export const depositList = (userId: number, currency?: string): string => `DL#${userId}#${currency ?? '*'}`

/** A deposit by its id, or undefined where there is none. */
export async function readDeposit(id: string, { consistent = false } = {}): Promise<Deposit | undefined> {
  const item = await readItem(depositKey(id), { consistent })
  return item === undefined ? undefined : toDeposit(item)
}

/** The deposit that a stored item describes: its own, or its row in a list. */
export function toDeposit(item: Record<string, unknown>): Deposit {
  const { user_id, version, ordinal, currency_ordinal, ...record } = v.parse(DepositItem, item)
  return { record, userId: user_id, version, ordinal, currencyOrdinal: currency_ordinal }
}

/**
 * The writes that bring a deposit to its next version: its own item, provided that it still stands at the version before,
 * and its rows in the two lists, which carry it whole so that a page is one read.
 */
export function putDeposit(deposit: Deposit): Write[] {
  const { record, userId, version, ordinal, currencyOrdinal } = deposit
  const item = {
    ...record,
    amount: toNumberValue(record.amount),
    user_id: userId,
    version,
    ordinal,
    currency_ordinal: currencyOrdinal,
  }
  const row = (list: string, at: number): Write => ({
    Put: {
      Item: { ...rowKey(list, at), ...instantKeys(list, record.created_at, at), ...item },
    },
  })
  return [
    {
      Put: {
        Item: { ...depositKey(record.id), ...item },
        ...(version === 1
          ? { ConditionExpression: 'attribute_not_exists(pk)' }
          : {
              ConditionExpression: 'version = :before',
              ExpressionAttributeValues: { ':before': version - 1 },
            }),
      },
    },
    row(depositList(userId), ordinal),
    row(depositList(userId, record.currency), currencyOrdinal),
  ]
}

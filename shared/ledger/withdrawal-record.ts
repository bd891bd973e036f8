import * as v from 'valibot'
import { daysInOrder } from '../dates.ts'
import { itemType } from '../db/item-type.ts'
import { readListPage, rowKey } from '../db/numbered-list.ts'
import { findItems, readItem } from '../db/read.ts'
import { Decimal, toNumberValue } from '../db/decimal.ts'
import { Integer, type Key } from '../db/table.ts'
import { putVersioned, type Write, writeItem } from '../db/write.ts'
import { BusinessKey, CurrencyCode, CurrencyFilter, Day } from '../fields.ts'
import { type Big, Money } from '../money.ts'
import { pageQuery, toPage } from '../page.ts'
import { readWallet, type Wallet } from './wallet.ts'

/** Every status of a withdrawal. `SETTLED` and `CANCELLED` are final. */
export const WithdrawalStatus = v.picklist(['REQUESTED', 'SETTLED', 'CANCELLED'])
export type WithdrawalStatus = v.InferOutput<typeof WithdrawalStatus>

/** Answer: a withdrawal as its owner sees it. */
export const WithdrawalRecord = v.object({
  /** The `withdrawal_id` of its events. */
  id: v.string(),
  currency: v.string(),
  /** The amount that is held from the request until the withdrawal is settled or cancelled. */
  amount: Money,
  status: WithdrawalStatus,
  /** When the first event about it was booked, epoch milliseconds. */
  created_at: v.number(),
  /** Instant that this event states, epoch milliseconds. */
  occurred_at: v.number(),
  /** When the settlement was booked, epoch milliseconds; null until then. */
  settled_at: v.nullable(v.number()),
  /** The amount that was paid out; null until the withdrawal is settled. */
  settled_amount: v.nullable(Money),
  /** The fee that was taken beside it, perhaps 0; null until the withdrawal is settled. */
  fee: v.nullable(Money),
})
export type WithdrawalRecord = v.InferOutput<typeof WithdrawalRecord>

const RecordItem = v.object({
  ...WithdrawalRecord.entries,
  amount: Decimal,
  created_at: Integer,
  occurred_at: Integer,
  settled_at: v.nullable(Integer),
  settled_amount: v.nullable(Decimal),
  fee: v.nullable(Decimal),
})

const WithdrawalItem = v.object({
  ...RecordItem.entries,
  userId: Integer,
  /** Status of the first event about it, which puts the withdrawal into the lists. */
  openedAs: WithdrawalStatus,
  /** Version of the withdrawal: 1 after the first write, raised by every later one. */
  version: Integer,
  /** The withdrawal's number in the list of all of the user's withdrawals. */
  ordinal: Integer,
  /** The withdrawal's number in the list of the user's withdrawals in the same currency. */
  currencyOrdinal: Integer,
})

/** A withdrawal as the service stores it, including what its owner does not see. */
export type Withdrawal = v.InferOutput<typeof WithdrawalItem>

const withdrawalKeys = itemType({
  pk: 'WD#{withdrawalId}',
  sk: 'WITHDRAWAL',
  holds: 'a withdrawal: its user, currency, amount and status',
  found: 'by withdrawal_id',
})

const keyOf = (withdrawalId: string): Key => withdrawalKeys.key({ withdrawalId })

/** Reads a withdrawal with a strongly consistent read; undefined before its first event. */
export async function readWithdrawal(withdrawalId: string): Promise<Withdrawal | undefined> {
  const item = await readItem(keyOf(withdrawalId), { consistent: true })
  return item && v.parse(WithdrawalItem, item)
}

/** Whether a text can be the id of a withdrawal. */
export const isWithdrawalId = (text: string): boolean => v.is(BusinessKey, text)

/**
 * Reads a user's withdrawal; undefined if the id is unknown or the withdrawal is another user's. The response
 * time must not tell these cases apart: both take two reads.
 */
export async function readWithdrawalOf(userId: number, id: string): Promise<WithdrawalRecord | undefined> {
  for (const consistent of [false, true]) {
    const item = await readItem(keyOf(id), { consistent })
    if (item && v.parse(WithdrawalItem, item).userId === userId) return v.parse(RecordItem, item)
  }
  return undefined
}

const toStored = (amount: Big | null) => amount && toNumberValue(amount)

/** The write that stores a withdrawal. It fails if another version of it is stored. */
export function putWithdrawal(withdrawal: Withdrawal): Write {
  const { amount, settled_amount, fee, ...rest } = withdrawal
  const amounts = { amount: toStored(amount), settled_amount: toStored(settled_amount), fee: toStored(fee) }
  return putVersioned({ ...keyOf(withdrawal.id), ...rest, ...amounts }, withdrawal.version - 1)
}

const rowKeys = itemType({
  pk: 'WL#{userId}#{currency}',
  sk: '{number}',
  holds: 'the id of a withdrawal, once in the list of its currency and once in the list of all',
  found: 'a page by its numbers',
})

/** Partition key of the list of a user's withdrawals in one currency, or of all the user's withdrawals. */
const listName = (userId: number, currency = '*'): string => rowKeys.partition({ userId, currency })

/**
 * Puts a withdrawal into its lists. Its numbers were given in the transaction of its first event, so it does
 * not matter how often or when this is done: the event ends only after it, and is delivered again until then.
 */
export async function listWithdrawal(withdrawal: Withdrawal): Promise<void> {
  const { id, userId, currency, created_at, ordinal, currencyOrdinal } = withdrawal
  const putRow = (list: string, number: number) =>
    writeItem({ Put: { Item: { ...rowKey(list, number), id, created_at } } })
  await Promise.all([putRow(listName(userId), ordinal), putRow(listName(userId, currency), currencyOrdinal)])
}

/** Number of withdrawals in a wallet, of one currency or of all. */
export const countWithdrawals = ({ withdrawals }: Wallet, currency?: string): number =>
  currency === undefined
    ? [...withdrawals.values()].reduce((sum, count) => sum + count, 0)
    : (withdrawals.get(currency) ?? 0)

/** Query parameters of a page of withdrawals. */
export const WithdrawalsQuery = v.pipe(
  v.object({ currency: CurrencyFilter, beginTime: v.optional(Day), endTime: v.optional(Day), ...pageQuery }),
  v.forward(
    v.check(({ beginTime, endTime }) => daysInOrder(beginTime, endTime), 'must not be before beginTime'),
    ['endTime'],
  ),
)
export type WithdrawalsQuery = v.InferOutput<typeof WithdrawalsQuery>

/** Reads a page of withdrawals, newest first. */
export async function readWithdrawalsPage(query: WithdrawalsQuery, userId: number) {
  const { currency } = query
  if (currency !== undefined && !v.is(CurrencyCode, currency)) return toPage<WithdrawalRecord>([], 0, query)
  const readLength = async () => countWithdrawals(await readWallet({ userId, wallet: 'asset' }), currency)
  const list = listName(userId, currency)
  const { rows, total } = await readListPage(list, readLength, query)
  const items = await findItems(rows.map(({ id }) => keyOf(String(id))))
  const records = items.flatMap((item) => (item === undefined ? [] : [v.parse(RecordItem, item)]))
  return toPage(records, total, query)
}

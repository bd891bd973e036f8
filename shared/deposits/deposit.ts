import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { daysInOrder } from '../dates.ts'
import { itemType } from '../db/item-type.ts'
import { readListPage, rowKey } from '../db/numbered-list.ts'
import { readItem } from '../db/read.ts'
import { Decimal, toNumberValue } from '../db/decimal.ts'
import { Integer, type Key } from '../db/table.ts'
import { putVersioned, type Write } from '../db/write.ts'
import { CurrencyCode, CurrencyFilter, Day } from '../fields.ts'
import { pageQuery, toPage } from '../page.ts'
import { Money } from '../money.ts'
import { foldTxid } from './identity.ts'

/** Every status of a deposit. `CREDITED` and `FAILED` are final. */
export const DepositStatus = v.picklist(['PENDING', 'CONFIRMING', 'CREDITED', 'FAILED'])
export type DepositStatus = v.InferOutput<typeof DepositStatus>

/** Response data: a deposit as its owner sees it. */
export const DepositRecord = v.object({
  id: v.string(),
  currency: v.string(),
  currency_network: v.string(),
  amount: Money,
  address: v.string(),
  tag: v.nullable(v.string()),
  txid: v.string(),
  output_index: v.number(),
  confirmations: v.number(),
  required_confirmations: v.number(),
  status: DepositStatus,
  /** Time of the first event or of the user's previous deposit, whichever is later, epoch milliseconds. */
  created_at: v.number(),
  /** The earliest instant that an event about the deposit states, epoch milliseconds. */
  occurred_at: v.number(),
  /** When the deposit was credited, epoch milliseconds; null until then. */
  credited_at: v.nullable(v.number()),
})
export type DepositRecord = v.InferOutput<typeof DepositRecord>

const RecordItem = v.object({
  ...DepositRecord.entries,
  amount: Decimal,
  output_index: Integer,
  confirmations: Integer,
  required_confirmations: Integer,
  created_at: Integer,
  occurred_at: Integer,
  credited_at: v.nullable(Integer),
})

const DepositItem = v.object({
  ...RecordItem.entries,
  userId: Integer,
  /** Marks of the newest events that changed the deposit (see addApplied). */
  applied: v.instance(Uint8Array),
  /** Version of the deposit: 1 after the first write, raised by every later one. */
  version: Integer,
  /** The deposit's number in the list of all of the user's deposits. */
  ordinal: Integer,
  /** The deposit's number in the list of the user's deposits in the same currency. */
  currencyOrdinal: Integer,
})

/** A deposit as the service stores it, including what its owner does not see. */
export type Deposit = v.InferOutput<typeof DepositItem>

/** Identity of a deposit: a network, a transaction on it, and an output of that transaction. */
export interface DepositName {
  network: string
  txid: string
  outputIndex: number
}

/**
 * The id of a deposit: SHA-256 of its identity, base64url, so that the id discloses nothing. It is the same
 * for all spellings of the txid.
 */
export const depositId = ({ network, txid, outputIndex }: DepositName): string =>
  createHash('sha256')
    .update(JSON.stringify([network, foldTxid(txid), outputIndex]))
    .digest('base64url')

/** The business key of the events about a deposit: the same for all spellings of the txid. */
export const depositKey = ({ network, txid, outputIndex }: DepositName): string =>
  `${network}:${foldTxid(txid)}:${outputIndex}`

/** Whether a text has the form of a deposit's id. */
export const isDepositId = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text)

/** Size of the mark of an event, in bytes: two of a deposit's events have the same once in 10^13 times. */
const markBytes = 6
const maxMarks = 20

const markOf = (eventId: string): Buffer =>
  createHash('sha256').update(eventId).digest().subarray(0, markBytes)

/**
 * Adds the mark of an event that changes a deposit. The events of a deposit share one key, and have no
 * records of their own. By the marks, an event that is delivered again is told from a new one.
 */
export const addApplied = (
  marks: Uint8Array<ArrayBuffer> | undefined,
  eventId: string,
): Uint8Array<ArrayBuffer> =>
  Buffer.concat([marks ?? Buffer.alloc(0), markOf(eventId)]).subarray(-markBytes * maxMarks)

/** Whether an event is among the newest 20 that changed a deposit. */
export function hasApplied(marks: Uint8Array, eventId: string): boolean {
  const mark = markOf(eventId)
  for (let start = 0; start < marks.length; start += markBytes)
    if (mark.equals(marks.subarray(start, start + markBytes))) return true
  return false
}

const depositKeys = itemType({
  pk: 'DEP#{id}',
  sk: 'DEPOSIT',
  holds: 'a deposit as it stands now',
  found: 'by its id, SHA-256 of network, txid and output index',
})

/** Reads a deposit by its id, strongly consistent; undefined if there is none. */
export async function readDeposit(id: string): Promise<Deposit | undefined> {
  const item = await readItem(depositKeys.key({ id }), { consistent: true })
  return item && v.parse(DepositItem, item)
}

/**
 * Reads a user's deposit; undefined if the id is unknown or the deposit is another user's. Anyone can compute
 * ids from the blockchain, so the response time must not tell these cases apart: both take two reads.
 */
export async function readDepositOf(userId: number, id: string): Promise<DepositRecord | undefined> {
  for (const consistent of [false, true]) {
    const item = await readItem(depositKeys.key({ id }), { consistent })
    if (item && v.parse(DepositItem, item).userId === userId) return v.parse(RecordItem, item)
  }
  return undefined
}

const rowKeys = itemType({
  pk: 'DL#{userId}#{currency}',
  sk: '{number}',
  holds: 'a deposit, once in the list of its currency and once in the list of all',
  found: 'a page by its numbers',
})
/** Partition key of the list of a user's deposits in one currency, or of all the user's deposits. */
const listName = (userId: number, currency = '*'): string => rowKeys.partition({ userId, currency })

/**
 * The writes that store a deposit: its item, a row among the user's deposits, and a row among the user's
 * deposits in this currency. Rows hold all that is shown, so a page takes one read. The first write fails if
 * another version of the deposit is stored.
 */
export function putDeposit(deposit: Deposit): Write[] {
  const { applied, ...shown } = deposit
  const { id, userId, currency, version, ordinal, currencyOrdinal } = deposit
  const item = { ...shown, amount: toNumberValue(deposit.amount) }
  const putRow = (list: string, number: number): Write => ({
    Put: { Item: { ...rowKey(list, number), ...item } },
  })
  return [
    putVersioned({ ...depositKeys.key({ id }), ...item, applied }, version - 1),
    putRow(listName(userId), ordinal),
    putRow(listName(userId, currency), currencyOrdinal),
  ]
}

/** How many deposits a user has in each currency: the length of that currency's numbered list. */
export interface DepositCount {
  userId: number
  /** Instant of the user's newest deposit, epoch milliseconds; 0 before the first. */
  lastAt: number
  byCurrency: Map<string, number>
}

const CountItem = v.object({ last_at: Integer, counts: v.record(v.string(), Integer) })

const countKeys = itemType({
  pk: 'DL#{userId}',
  sk: 'HEAD',
  holds: 'how many deposits a user has of each currency',
  found: 'by user',
})

const countKey = (userId: number): Key => countKeys.key({ userId })

/** Reads how many deposits a user has. */
export async function readDepositCount(userId: number, { consistent = false } = {}): Promise<DepositCount> {
  const item = await readItem(countKey(userId), { consistent })
  if (item === undefined) return { userId, lastAt: 0, byCurrency: new Map() }
  const { last_at: lastAt, counts } = v.parse(CountItem, item)
  return { userId, lastAt, byCurrency: new Map(Object.entries(counts)) }
}

/** Number of a user's deposits in one currency, or in all currencies. */
export const countDeposits = ({ byCurrency }: DepositCount, currency?: string): number =>
  currency === undefined
    ? [...byCurrency.values()].reduce((sum, count) => sum + count, 0)
    : (byCurrency.get(currency) ?? 0)

/** The write that counts a user's next deposit; it fails if a deposit was counted since `count` was read. */
export function putDepositCount(count: DepositCount, currency: string, at: number): Write {
  const total = countDeposits(count)
  const byCurrency = new Map(count.byCurrency).set(currency, countDeposits(count, currency) + 1)
  const counts = Object.fromEntries(byCurrency)
  return putVersioned({ ...countKey(count.userId), last_at: at, version: total + 1, counts }, total)
}

/** Query parameters of a page of deposits. */
export const RecordsQuery = v.pipe(
  v.object({ currency: CurrencyFilter, beginTime: v.optional(Day), endTime: v.optional(Day), ...pageQuery }),
  v.forward(
    v.check(({ beginTime, endTime }) => daysInOrder(beginTime, endTime), 'must not be before beginTime'),
    ['endTime'],
  ),
)
export type RecordsQuery = v.InferOutput<typeof RecordsQuery>

/** Reads a page of deposits, newest first. */
export async function readRecordsPage(query: RecordsQuery, userId: number) {
  const { currency } = query
  const readLength = async () => countDeposits(await readDepositCount(userId), currency)
  const { rows, total } =
    currency === undefined || v.is(CurrencyCode, currency)
      ? await readListPage(listName(userId, currency), readLength, query)
      : { rows: [], total: 0 }
  const records = rows.map((row) => v.parse(RecordItem, row))
  return toPage(records, total, query)
}

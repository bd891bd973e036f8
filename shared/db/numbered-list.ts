import { endOfDay, startOfDay } from '../dates.ts'
import { queryFirst, queryItems } from './read.ts'
import { indexName } from './table-layout.ts'
import type { Item, Key } from './table.ts'

/**
 * A list whose rows are numbered 1, 2, 3, … without gaps, in the order of their instants. Any page is then
 * one range of rows, however long the list is. The list's name is its partition key. The code that appends to
 * a list stores its length.
 */

const ordinalDigits = 12
const instantDigits = 16

const ordinalText = (ordinal: number): string => String(ordinal).padStart(ordinalDigits, '0')
const instantText = (instant: number): string => String(Math.max(0, instant)).padStart(instantDigits, '0')

/** Key of a row of a numbered list. */
export const rowKey = (list: string, ordinal: number): Key => ({ pk: list, sk: ordinalText(ordinal) })

/** The index keys of a row that is to be found by its instant (epoch milliseconds). */
export const instantKeys = (list: string, instant: number, ordinal: number) => ({
  gpk: list,
  gsk: `${instantText(instant)}#${ordinalText(ordinal)}`,
})

/** First and last day of a period, both included. Either may be omitted, which leaves that end open. */
interface Period {
  beginTime?: string | undefined
  endTime?: string | undefined
}

/**
 * What a page of a numbered list is read from: the list's length, and the range of its rows that are in the
 * requested period, from `first` to before `beyond`.
 */
export interface ListStart {
  list: string
  length: number
  /** Number of the first row in the period; undefined if the list ends before the period begins. */
  first: number | undefined
  /** First row number after the period; undefined if the list ends within the period or is not limited. */
  beyond: number | undefined
}

/** First round of reads for a page of a numbered list: its length and the rows in the requested period. */
export async function readListStart(
  list: string,
  readLength: Promise<number>,
  { beginTime, endTime }: Period,
): Promise<ListStart> {
  const [length, first, beyond] = await Promise.all([
    readLength,
    beginTime === undefined ? 1 : firstOrdinalFrom(list, startOfDay(beginTime)),
    endTime === undefined ? undefined : firstOrdinalFrom(list, endOfDay(endTime)),
  ])
  return { list, length, first, beyond }
}

async function firstOrdinalFrom(list: string, instant: number): Promise<number | undefined> {
  const query = {
    IndexName: indexName,
    KeyConditionExpression: 'gpk = :list AND gsk >= :instant',
    ExpressionAttributeValues: { ':list': list, ':instant': instantText(instant) },
  }
  const [row] = await queryFirst(query, 1)
  return row && Number(row['sk'])
}

/**
 * The second round of reads for a page of a numbered list: its rows, newest first, and the total number of
 * rows in the period. Without a start the page is empty.
 */
export async function readListPage(
  start: ListStart | undefined,
  { current, size }: { current: number; size: number },
): Promise<{ rows: Item[]; total: number }> {
  if (start === undefined) return { rows: [], total: 0 }
  const { list, length, first = length + 1, beyond = length + 1 } = start
  // The list's length comes from an eventually consistent read and may be older than what the index returns.
  const last = Math.min(length, beyond - 1)
  const newest = last - (current - 1) * size
  const rows = await readRange(list, Math.max(first, newest - size + 1), newest)
  return { rows, total: Math.max(0, last - first + 1) }
}

/**
 * Reads rows by number, newest first. Strongly consistent by default, so every row that the length counts is
 * found.
 */
export async function readRange(
  list: string,
  oldest: number,
  newest: number,
  { consistent = true } = {},
): Promise<Item[]> {
  if (newest < oldest) return []
  const query = {
    KeyConditionExpression: 'pk = :list AND sk BETWEEN :oldest AND :newest',
    ExpressionAttributeValues: {
      ':list': list,
      ':oldest': ordinalText(oldest),
      ':newest': ordinalText(newest),
    },
    ScanIndexForward: false,
    ConsistentRead: consistent,
  }
  return queryFirst(query, newest - oldest + 1)
}

/** Number of rows that are read at a time. Without it, DynamoDB Local reads all that are left for a page. */
export const rowsPerRead = 1_000

/** Reads the rows of a numbered list from a number on, oldest first, in as many reads as necessary. */
export const readRows = (list: string, first = 1): AsyncGenerator<Item> =>
  queryItems({
    KeyConditionExpression: 'pk = :list AND sk >= :first',
    ExpressionAttributeValues: { ':list': list, ':first': ordinalText(first) },
    ConsistentRead: true,
    Limit: rowsPerRead,
  })

import { endOfDay, startOfDay } from '../dates.ts'
import type { PageRequest } from '../page.ts'
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
 * requested period, from `first` to before `beyond`. Of the newest rows it is the page itself.
 */
export type ListStart =
  | { newest: ListPage }
  | {
      newest?: undefined
      list: string
      length: number
      /** Number of the first row in the period; undefined if the list ends before the period begins. */
      first: number | undefined
      /** First row number after the period; undefined if the list ends before that, or nothing limits it. */
      beyond: number | undefined
    }

/** Rows of a list, newest first, and the number of all that a request asks for. */
export interface ListPage {
  rows: Item[]
  total: number
}

/**
 * First round of reads for a page of a numbered list: its length and the rows in the requested period. The
 * newest rows of all are read at once, without the length.
 */
export async function readListStart(
  list: string,
  readLength: () => Promise<number>,
  query: Period & PageRequest,
): Promise<ListStart> {
  if (isNewestPage(query)) return { newest: await readNewest(list, query.size) }
  const { beginTime, endTime } = query
  const [length, first, beyond] = await Promise.all([
    readLength(),
    beginTime === undefined ? 1 : firstOrdinalFrom(list, startOfDay(beginTime)),
    endTime === undefined ? undefined : firstOrdinalFrom(list, endOfDay(endTime)),
  ])
  return { list, length, first, beyond }
}

/** Whether a request asks for the newest rows of all. */
export const isNewestPage = ({ beginTime, endTime, current }: Period & PageRequest): boolean =>
  current === 1 && beginTime === undefined && endTime === undefined

/**
 * Reads the newest rows of a list. The number of the newest one is the length of the list. Eventually
 * consistent; strongly consistent if a row between the others has not arrived.
 */
export async function readNewest(list: string, count: number): Promise<ListPage> {
  const rows = await queryFirst(
    {
      KeyConditionExpression: 'pk = :list',
      ExpressionAttributeValues: { ':list': list },
      ScanIndexForward: false,
    },
    count,
  )
  const [total = 0, last = 0] = [rows.at(0), rows.at(-1)].map((row) => Number(row?.['sk'] ?? 0))
  const oldest = Math.max(1, total - count + 1)
  const isWhole = last === oldest && rows.length === total - oldest + 1
  return { rows: isWhole ? rows : await readRange(list, oldest, total), total }
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
  { current, size }: PageRequest,
): Promise<ListPage> {
  if (start === undefined) return { rows: [], total: 0 }
  if (start.newest) return start.newest
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
const rowsPerRead = 1_000

/** Reads all rows of a numbered list, oldest first, in as many reads as necessary. */
export const readRows = (list: string): AsyncGenerator<Item> =>
  queryItems({
    KeyConditionExpression: 'pk = :list',
    ExpressionAttributeValues: { ':list': list },
    ConsistentRead: true,
    Limit: rowsPerRead,
  })

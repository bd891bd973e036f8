import { endOfDay, startOfDay } from '../dates.ts'
import type { PageRequest } from '../page.ts'
import { between, queryFirst, queryItems, readItems } from './read.ts'
import { indexName } from './partitions.ts'
import type { Item, Key } from './table.ts'

/**
 * A list whose rows are numbered 1, 2, 3, … without gaps, in chronological order. So each page is a range of
 * row numbers. The list's name is its partition key. Code that appends a row also stores the new length.
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

/** Rows of a list, newest first, and the number of all rows in the requested period. */
export interface ListPage {
  rows: Item[]
  total: number
}

/**
 * Reads a page of the rows in the requested period, and counts all rows in that period. The first page of a
 * request without a period usually takes one round trip to DynamoDB. Any other page takes two.
 */
export async function readListPage(
  list: string,
  readLength: () => Promise<number>,
  query: Period & PageRequest,
  findFirst: FindFirst = firstOrdinalFrom,
): Promise<ListPage> {
  const { beginTime, endTime, current, size } = query
  if (isNewestPage(query)) return readNewest(list, size)
  const reading = readLength()
  const [length, from, to] = await Promise.all([
    reading,
    beginTime === undefined ? 1 : findFirst(list, startOfDay(beginTime), reading),
    endTime === undefined ? undefined : findFirst(list, endOfDay(endTime), reading),
  ])
  // The read of the length is eventually consistent. Rows beyond the length are left out.
  const [first, last] = [from ?? length + 1, Math.min(length, (to ?? length + 1) - 1)]
  const newest = last - (current - 1) * size
  const rows = await readRange(list, Math.max(first, newest - size + 1), newest)
  return { rows, total: Math.max(0, last - first + 1) }
}

/** Whether a request asks for the newest rows of the whole list. */
export const isNewestPage = ({ beginTime, endTime, current }: Period & PageRequest): boolean =>
  current === 1 && beginTime === undefined && endTime === undefined

/**
 * Reads the newest rows of a list; the number of the newest row is the list's length. The first read is
 * eventually consistent. If that read lacks a row, a strongly consistent read follows.
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

/** Finds the number of the first row from an instant on; undefined if there is none. */
type FindFirst = (list: string, instant: number, length: Promise<number>) => Promise<number | undefined>

/** Number of rows that a round of searchFirst reads. */
const probes = 15

/**
 * Finds the first row from an instant on, in a list whose rows have the attribute `created_at` and no index
 * keys, which would cost a write unit a row. Each round reads some rows, and leaves a sixteenth of the list:
 * a million rows take five rounds.
 */
export const searchFirst: FindFirst = async (list, instant, length) => {
  let [from, to] = [1, (await length) + 1]
  while (from < to) {
    const step = Math.max(1, Math.ceil((to - from) / (probes + 1)))
    const ordinals = Array.from({ length: probes }, (_, i) => from + step * i).filter((one) => one < to)
    const rows = await readItems(ordinals.map((ordinal) => rowKey(list, ordinal)))
    const later = rows.findIndex((row) => !(Number(row?.['created_at']) < instant))
    if (later === -1) from = (ordinals.at(-1) ?? from) + 1
    else [from, to] = [later === 0 ? from : (ordinals[later - 1] ?? from) + 1, ordinals[later] ?? to]
  }
  return from
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

/** Reads rows by number, newest first. By default strongly consistent, so that no stored row is missing. */
export async function readRange(
  list: string,
  oldest: number,
  newest: number,
  { consistent = true } = {},
): Promise<Item[]> {
  if (newest < oldest) return []
  const rows = between(list, ordinalText(oldest), ordinalText(newest))
  const query = { ...rows, ScanIndexForward: false, ConsistentRead: consistent }
  return queryFirst(query, newest - oldest + 1)
}

/** Maximum rows of one read. Without this limit, DynamoDB Local reads all remaining rows for a page. */
const rowsPerRead = 1_000

/** Reads all rows of a numbered list, oldest first, in as many reads as necessary. */
export const readRows = (list: string): AsyncGenerator<Item> =>
  queryItems({
    KeyConditionExpression: 'pk = :list',
    ExpressionAttributeValues: { ':list': list },
    ConsistentRead: true,
    Limit: rowsPerRead,
  })

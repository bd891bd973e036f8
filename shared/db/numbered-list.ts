import { endOfDay, startOfDay } from '../dates.ts'
import type { PageRequest } from '../page.ts'
import { between, findItems, queryFirst, queryItems } from './read.ts'
import type { Item, Key } from './table.ts'

/**
 * A list whose rows are numbered 1, 2, 3, … without gaps, in chronological order. So each page is a range of
 * row numbers. The list's name is its partition key. Code that appends a row also stores the new length. Each
 * row has the instant `created_at` (epoch milliseconds), by which a period is found.
 *
 * A wallet's bills are such a list, too. But filters select few of a million bills, so their pages are found
 * in an index (ledger/index), which shorter lists do not pay for.
 */

const ordinalDigits = 12

const ordinalText = (ordinal: number): string => String(ordinal).padStart(ordinalDigits, '0')

/** Key of a row of a numbered list. */
export const rowKey = (list: string, ordinal: number): Key => ({ pk: list, sk: ordinalText(ordinal) })

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
 * request without a period usually takes one round trip to DynamoDB. Any other page takes two, and with a
 * period one more for each power of 16 in the length of the list.
 */
export async function readListPage(
  list: string,
  readLength: () => Promise<number>,
  query: Period & PageRequest,
): Promise<ListPage> {
  const { beginTime, endTime, current, size } = query
  if (isNewestPage(query)) return readNewest(list, size)
  const length = await readLength()
  const [first, end] = await Promise.all([
    beginTime === undefined ? 1 : findFirst(list, length, startOfDay(beginTime)),
    endTime === undefined ? length + 1 : findFirst(list, length, endOfDay(endTime)),
  ])
  const last = end - 1
  const newest = last - (current - 1) * size
  const rows = await readRowsBetween(list, Math.max(first, newest - size + 1), newest)
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
  return { rows: isWhole ? rows : await readRowsBetween(list, oldest, total), total }
}

/** Number of rows that a round of findFirst reads. */
const probes = 15

/**
 * Finds the number of the first row from an instant on (epoch milliseconds); `length + 1` if there is none.
 * Each round reads some rows, and leaves a sixteenth of the list: a million rows take five rounds. Keys in
 * the table's index would find it in one, but cost a write unit for each row.
 */
async function findFirst(list: string, length: number, instant: number): Promise<number> {
  let [from, to] = [1, length + 1]
  while (from < to) {
    const step = Math.max(1, Math.ceil((to - from) / (probes + 1)))
    const ordinals = Array.from({ length: probes }, (_, i) => from + step * i).filter((one) => one < to)
    const rows = await findItems(ordinals.map((ordinal) => rowKey(list, ordinal)))
    const later = rows.findIndex((row) => !(Number(row?.['created_at']) < instant))
    if (later === -1) from = (ordinals.at(-1) ?? from) + 1
    else [from, to] = [later === 0 ? from : (ordinals[later - 1] ?? from) + 1, ordinals[later] ?? to]
  }
  return from
}

/** Reads rows by number, newest first. By default strongly consistent, so that no stored row is missing. */
export async function readRowsBetween(
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
export const readAllRows = (list: string): AsyncGenerator<Item> =>
  queryItems({
    KeyConditionExpression: 'pk = :list',
    ExpressionAttributeValues: { ':list': list },
    ConsistentRead: true,
    Limit: rowsPerRead,
  })

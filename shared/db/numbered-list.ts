import type { PageRequest } from '../http/page.ts'
import { indexName } from './table-layout.ts'
import { type Item, type Key } from './table.ts'
import { queryFirst, queryItems } from './read.ts'

/**
 * A list whose rows carry gapless ordinals from 1 in the order of time, so that any page is one range of
 * rows, however long the list is. Its name is its partition; its length is kept by whoever appends to it.
 */

const ordinalDigits = 12
const instantDigits = 16

const toText = (ordinal: number): string => String(ordinal).padStart(ordinalDigits, '0')

/** Key of a row. */
export const rowKey = (list: string, ordinal: number): Key => ({ pk: list, sk: toText(ordinal) })

/** Attributes by which the index finds a row by its instant. */
export const instantKeys = (list: string, instant: number, ordinal: number) => ({
  gpk: list,
  gsk: `${String(instant).padStart(instantDigits, '0')}#${toText(ordinal)}`,
})

/**
 * The part of a list that lies between two instants (epoch milliseconds; `end` is not in it). Either may be
 * left open.
 */
export interface Period {
  begin?: number | undefined
  end?: number | undefined
}

/**
 * Ordinals of the rows of a period: from `first`, up to but without `beyond`, undefined where the list ends
 * before.
 */
export interface Bounds {
  first: number | undefined
  beyond: number | undefined
}

/** Looks a period up in the index: at most two rows are read, side by side. */
export async function readBounds(list: string, { begin, end }: Period): Promise<Bounds> {
  const [first, beyond] = await Promise.all([
    begin === undefined ? 1 : firstOrdinalFrom(list, begin),
    end === undefined ? undefined : firstOrdinalFrom(list, end),
  ])
  return { first, beyond }
}

async function firstOrdinalFrom(list: string, instant: number): Promise<number | undefined> {
  const [row] = await queryFirst(
    {
      IndexName: indexName,
      KeyConditionExpression: 'gpk = :list AND gsk >= :instant',
      ExpressionAttributeValues: {
        ':list': list,
        ':instant': String(Math.max(0, instant)).padStart(instantDigits, '0'),
      },
    },
    1,
  )
  const ordinal = row?.['sk'] as string | undefined
  return ordinal === undefined ? undefined : Number(ordinal)
}

/** A page as a range of ordinals, newest first: `from` down to `to`, empty where `from` is below `to`. */
export interface Window {
  total: number
  from: number
  to: number
}

/** Which rows of a list make up a page of a period. */
export function pageWindow(length: number, { first, beyond }: Bounds, page: PageRequest): Window {
  // A lagging replica may tell a length from before what the index already knows.
  const last = Math.min(length, (beyond ?? length + 1) - 1)
  const lowest = first ?? length + 1
  const from = last - (page.current - 1) * page.size
  return {
    total: Math.max(0, last - lowest + 1),
    from,
    to: Math.max(lowest, from - page.size + 1),
  }
}

/**
 * The rows of a page, newest first: one range of at most a page's size. Consistent, so that every row that a
 * length counts is there.
 */
export async function readWindow(list: string, { from, to }: Window): Promise<Record<string, unknown>[]> {
  if (from < to) return []
  const query = {
    KeyConditionExpression: 'pk = :list AND sk BETWEEN :to AND :from',
    ExpressionAttributeValues: { ':list': list, ':to': toText(to), ':from': toText(from) },
    ScanIndexForward: false,
    ConsistentRead: true,
  }
  return queryFirst(query, from - to + 1)
}

/** All rows of a list up to a length, oldest first, in as many reads as it takes. */
export const readRows = (list: string, length: number): AsyncGenerator<Item> =>
  queryItems({
    KeyConditionExpression: 'pk = :list AND sk <= :last',
    ExpressionAttributeValues: { ':list': list, ':last': toText(length) },
    ConsistentRead: true,
  })

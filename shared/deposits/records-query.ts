import * as v from 'valibot'
import { daysInOrder, endOfDay, startOfDay } from '../dates.ts'
import { type Bounds, pageWindow, readBounds, readWindow } from '../db/numbered-list.ts'
import { CurrencyCode, Day } from '../events/fields.ts'
import { pageQuery, toPage } from '../http/page.ts'
import { depositList, toDeposit } from './deposit.ts'
import { countDeposits, type DepositHead, readDepositHead } from './deposit-head.ts'

/** The query of the list of deposits. */
export const RecordsQuery = v.pipe(
  v.object({
    currency: v.optional(v.pipe(v.string(), v.toUpperCase())),
    beginTime: v.optional(Day),
    endTime: v.optional(Day),
    ...pageQuery,
  }),
  v.forward(
    v.check(({ beginTime, endTime }) => daysInOrder(beginTime, endTime), 'must not be before beginTime'),
    ['endTime'],
  ),
)
export type RecordsQuery = v.InferOutput<typeof RecordsQuery>

/** What a page is read from, or undefined where no deposit can be of such a currency. */
export type RecordsStart = { head: DepositHead; bounds: Bounds } | undefined

/** First of the two reads behind a page, which may go out before the session is known to be good. */
export async function startRecords(query: RecordsQuery, userId: number): Promise<RecordsStart> {
  const { currency, beginTime, endTime } = query
  if (currency !== undefined && !v.is(CurrencyCode, currency)) return undefined
  const [head, bounds] = await Promise.all([
    readDepositHead(userId),
    readBounds(depositList(userId, currency), {
      begin: beginTime === undefined ? undefined : startOfDay(beginTime),
      end: endTime === undefined ? undefined : endOfDay(endTime),
    }),
  ])
  return { head, bounds }
}

/** Second read: the page itself, newest first. */
export async function finishRecords({ currency, current, size }: RecordsQuery, start: RecordsStart) {
  if (start === undefined) return toPage([], 0, { current, size })
  const { head, bounds } = start
  const window = pageWindow(countDeposits(head, currency), bounds, { current, size })
  const rows = await readWindow(depositList(head.userId, currency), window)
  return toPage(
    rows.map((row) => toDeposit(row).record),
    window.total,
    { current, size },
  )
}

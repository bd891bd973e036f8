import * as v from 'valibot'
import { addDays, dayOf as dayOfInstant, daysInOrder } from '../dates.ts'
import { Day } from '../events/fields.ts'
import { type Big, Money, zero } from '../money.ts'
import { dayKey, dayOf, daySums } from './earnings-item.ts'
import { queryItems } from '../db/read.ts'

/** What was earned of one currency on one day. */
export const EarningPoint = v.object({ date: v.string(), currency: v.string(), amount: Money })
export type EarningPoint = v.InferOutput<typeof EarningPoint>

/** Most days of a window, and how many it has when none is asked for. */
const mostDays = 366
const usualDays = 30

/** How many days a window has, both ends counted. */
const countDays = (first: string, last: string): number =>
  (Date.parse(last) - Date.parse(first)) / 86_400_000 + 1

/** The window of days, today at its end unless another end is asked for, 30 days long unless a beginning is. */
export const EarningsQuery = v.pipe(
  v.object({ beginDate: v.optional(Day), endDate: v.optional(Day) }),
  v.transform(({ beginDate, endDate = dayOfInstant(Date.now()) }) => ({
    beginDate: beginDate ?? addDays(endDate, 1 - usualDays),
    endDate,
  })),
  v.forward(
    v.check(({ beginDate, endDate }) => daysInOrder(beginDate, endDate), 'must not be before beginDate'),
    ['endDate'],
  ),
  v.forward(
    v.check(
      ({ beginDate, endDate }) => countDays(beginDate, endDate) <= mostDays,
      `must be less than ${mostDays} days after beginDate`,
    ),
    ['endDate'],
  ),
)

/** What a user earned on each day of a window: a point for every day and every currency earned in it, ascending. */
export async function readEarnings(
  userId: number,
  { beginDate, endDate }: v.InferOutput<typeof EarningsQuery>,
): Promise<EarningPoint[]> {
  const earned = await readDays(userId, beginDate, endDate)
  const currencies = [...new Set([...earned.values()].flatMap((sums) => [...sums.keys()]))].sort()
  return Array.from({ length: countDays(beginDate, endDate) }, (_, i) => addDays(beginDate, i)).flatMap(
    (date) =>
      currencies.map((currency) => ({ date, currency, amount: earned.get(date)?.get(currency) ?? zero })),
  )
}

/** Sums by currency of each day on which something was earned: one item a day, so at most a few pages of a query. */
async function readDays(userId: number, first: string, last: string): Promise<Map<string, Map<string, Big>>> {
  const days = new Map<string, Map<string, Big>>()
  const items = queryItems({
    KeyConditionExpression: 'pk = :pk AND sk BETWEEN :first AND :last',
    ExpressionAttributeValues: {
      ':pk': dayKey(userId, first).pk,
      ':first': dayKey(userId, first).sk,
      ':last': dayKey(userId, last).sk,
    },
  })
  for await (const item of items) {
    const sums = daySums(item).map(({ currency, amount }) => [currency, amount] as const)
    days.set(dayOf(item as { sk: string }), new Map(sums))
  }
  return days
}

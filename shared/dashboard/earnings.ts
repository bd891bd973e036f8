import * as v from 'valibot'
import { addDays, dayOf, daysInOrder } from '../dates.ts'
import { between, queryItems } from '../db/read.ts'
import { invalidParameter } from '../errors.ts'
import { Day } from '../fields.ts'
import { type Big, Money, zero } from '../money.ts'
import { dayEarnings, earnedSums } from './sums.ts'

/** What a user earned in one currency on one day. */
export const EarningPoint = v.object({
  date: v.pipe(v.string(), v.isoDate()),
  currency: v.string(),
  amount: Money,
})
export type EarningPoint = v.InferOutput<typeof EarningPoint>

const maxDays = 366
const maxPoints = 20_000
const defaultDays = 30

/** Number of days in a period, the first and the last included. */
const countDays = (first: string, last: string): number =>
  (Date.parse(last) - Date.parse(first)) / 86_400_000 + 1

const isPeriod = (first: string, last: string): boolean =>
  daysInOrder(first, last) && countDays(first, last) <= maxDays

/**
 * Query parameters of a user's earnings: first and last day (yyyy-MM-dd) of a period, both included. By
 * default, the last day is today, and the period has 30 days.
 */
export const EarningsQuery = v.pipe(
  v.object({ beginDate: v.optional(Day), endDate: v.optional(Day) }),
  // The error names a parameter that was sent.
  v.forward(
    v.check(
      ({ beginDate, endDate }) =>
        beginDate === undefined || endDate !== undefined || isPeriod(beginDate, dayOf(Date.now())),
      `must be one of the last ${maxDays} days if endDate is omitted`,
    ),
    ['beginDate'],
  ),
  v.transform(({ beginDate, endDate = dayOf(Date.now()) }) => ({
    beginDate: beginDate ?? addDays(endDate, 1 - defaultDays),
    endDate,
  })),
  v.forward(
    v.check(
      ({ beginDate, endDate }) => isPeriod(beginDate, endDate),
      `must be beginDate or one of the ${maxDays - 1} days after it`,
    ),
    ['endDate'],
  ),
)

/**
 * Reads a user's earnings in a period, by ascending day. Each day has an entry for every currency earned in
 * the period. Throws `invalid_parameter` as soon as there are more than `maxPoints` entries.
 */
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

/** Reads the days on which the user earned something, with the sum per currency. Each day has one item. */
async function readDays(userId: number, first: string, last: string): Promise<Map<string, Map<string, Big>>> {
  const days = new Map<string, Map<string, Big>>()
  const currencies = new Set<string>()
  const maxCurrencies = maxPoints / countDays(first, last)
  const [low, high] = [dayEarnings.key({ userId, day: first }), dayEarnings.key({ userId, day: last })]
  for await (const item of queryItems(between(low.pk, low.sk, high.sk))) {
    const sums = earnedSums(item)
    for (const { currency } of sums) currencies.add(currency)
    if (currencies.size > maxCurrencies)
      throw invalidParameter('beginDate', `must leave at most ${maxPoints} days times currencies`)
    const day = String(item['sk']).slice(dayEarnings.sortKeyPrefix.length)
    days.set(day, new Map(sums.map(({ currency, amount }) => [currency, amount] as const)))
  }
  return days
}

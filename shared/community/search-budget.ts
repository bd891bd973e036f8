import * as v from 'valibot'
import { itemType } from '../db/item-type.ts'
import { readItems } from '../db/read.ts'
import { Integer, type Item, type Key, ttlAfter } from '../db/table.ts'
import { ConditionFailed, putVersioned, writeItem } from '../db/write.ts'
import { Failure } from '../errors.ts'
import { retry } from '../retry.ts'

/**
 * What the searches of one caller may cost: read units in any period of a minute. A search reads the whole
 * list that it searches, so without a limit a few callers could use up the table's throughput.
 */
export const searchBudget = { readUnits: 5_000, milliseconds: 60_000 }

const budgets = itemType({
  pk: 'SEARCH#{userId}',
  sk: 'BUDGET',
  holds: 'the read units that a caller’s searches of the last minute cost, by second',
  found: 'by caller',
})

/** Key of the item that counts what a caller's searches cost. */
export const searchBudgetKey = (userId: number): Key => budgets.key({ userId })

const BudgetItem = v.object({
  version: Integer,
  spent: v.array(v.object({ second: Integer, units: Integer })),
})

/** Read units that were reserved within one second of the clock. */
export interface Spending {
  second: number
  units: number
}

/** When nothing of a second's spending counts any more, epoch milliseconds. */
const expiryOf = ({ second }: Spending): number => (second + 1) * 1_000 + searchBudget.milliseconds

/**
 * Decides whether read units may be reserved now. Returns all that counts then, or the seconds until there is
 * room for them; what is more than the whole budget never has room, and is told to wait a minute.
 */
export function decideReservation(
  spent: readonly Spending[],
  units: number,
  now: number,
): { spent: Spending[] } | { retryAfterSeconds: number } {
  const live = spent.filter((spending) => expiryOf(spending) > now).sort((a, b) => a.second - b.second)
  let excess = live.reduce((sum, spending) => sum + spending.units, units) - searchBudget.readUnits
  if (excess <= 0) {
    const second = Math.floor(now / 1_000)
    const others = live.filter((spending) => spending.second !== second)
    const sameSecond = live.find((spending) => spending.second === second)?.units ?? 0
    return { spent: [...others, { second, units: sameSecond + units }] }
  }
  const freed = live.find((spending) => (excess -= spending.units) <= 0)
  const until = freed === undefined ? now + searchBudget.milliseconds : expiryOf(freed)
  return { retryAfterSeconds: Math.ceil((until - now) / 1_000) }
}

/**
 * Reserves read units before they are read. Throws `too_many_requests` if the budget has no room: at once if
 * that is known without a read.
 */
export type ReserveUnits = (units: number) => Promise<void>

/**
 * Reserves read units for a caller's search, each time by one conditional write, so that simultaneous
 * searches cannot exceed the budget together. `known` is the caller's item as it was read before, which saves
 * a read.
 */
export function searchReservations(userId: number, known: Item | undefined): ReserveUnits {
  const key = searchBudgetKey(userId)
  let item = known
  let isStale = false
  const decide = (units: number, now: number) => {
    const { version, spent } = item === undefined ? { version: 0, spent: [] } : v.parse(BudgetItem, item)
    const decision = decideReservation(spent, Math.ceil(units), now)
    if ('retryAfterSeconds' in decision) throw new Failure('too_many_requests', decision)
    return { version, ...decision }
  }
  return (units) => {
    if (units === 0) return Promise.resolve()
    if (!isStale) decide(units, Date.now())
    return retry(
      async () => {
        if (isStale) item = (await readItems([key], { consistent: true }))[0]
        isStale = true
        const now = Date.now()
        const { version, spent } = decide(units, now)
        const ttl = ttlAfter(now + searchBudget.milliseconds)
        await writeItem(putVersioned({ ...key, version: version + 1, spent, ttl }, version))
      },
      (error) => error instanceof ConditionFailed,
    )
  }
}

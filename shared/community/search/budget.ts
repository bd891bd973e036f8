import * as v from 'valibot'
import { itemType } from '../../db/item-type.ts'
import { Integer, type Item, ttlAfter } from '../../db/table.ts'
import { writeItem } from '../../db/write.ts'
import { Failure } from '../../errors.ts'
import {
  countTries,
  giveBackTry,
  removeExpiredCounts,
  reserveTry,
  secondsUntilBelow,
} from '../../sign-in/limits/tries.ts'

/**
 * Maximum read units that one caller's searches can use in a clock minute. A search reads every leaf of the
 * list, so without a limit a few callers could use up the table's throughput.
 */
const searchBudget = { limit: 20_000, milliseconds: 60_000 }

/**
 * Maximum read units of one search. It takes about 6 s of processor time, of the 10 s that an endpoint has,
 * and reaches six million members with usual names.
 */
const maxSearchUnits = 7_500

/** Maximum number of searches for a whole email address that find nobody, per caller and hour. */
const maxMisses = 20

const counts = itemType({
  pk: 'SEARCH#{userId}',
  sk: '{period}#{number}',
  holds: 'what a caller’s searches cost in a minute',
  found: 'by caller and minute',
})

const misses = itemType({
  pk: 'SEARCH#{userId}',
  sk: 'MISSES',
  holds: 'a caller’s searches per minute for an address that nobody has',
  found: 'by caller',
})

const missCounter = 'address'

const CountItem = v.object({ count: Integer })

/** Counts what one caller uses in the current minute, up to a limit. */
function counterOf(userId: number, { limit, milliseconds }: typeof searchBudget) {
  const number = Math.floor(Date.now() / milliseconds)
  const end = (number + 1) * milliseconds
  const key = counts.key({ userId, period: milliseconds, number })
  const refusal = (msg?: string) =>
    new Failure('too_many_requests', {
      ...(msg !== undefined && { msg }),
      retryAfterSeconds: Math.max(1, Math.ceil((end - Date.now()) / 1_000)),
    })
  /** Adds to the counter in one conditional write, so simultaneous searches cannot exceed the limit. */
  const add = async (units: number): Promise<void> => {
    const addition = {
      Key: key,
      UpdateExpression: 'ADD #count :units SET #ttl = :ttl',
      ConditionExpression: 'attribute_not_exists(#count) OR #count <= :room',
      ExpressionAttributeNames: { '#count': 'count', '#ttl': 'ttl' },
      ExpressionAttributeValues: { ':units': units, ':room': limit - units, ':ttl': ttlAfter(end) },
    }
    await writeItem({ Update: addition, otherwise: () => refusal() })
  }
  return { key, refusal, add }
}

const tooLarge = 'the list is too large to be searched at once: choose a range of join dates'

/** Reserves read units for a search. Throws `too_many_requests` if the caller's budget has too few left. */
export type ReserveUnits = (units: number) => Promise<void>

/**
 * A caller's budget for searches in a minute. `key` is the key of its item. `reserver` takes this item, and
 * returns a function that reserves read units.
 */
export function searchBudgetOf(userId: number) {
  const { key, refusal, add } = counterOf(userId, searchBudget)
  const reserver = (known: Item | undefined): ReserveUnits => {
    const spent = known === undefined ? 0 : v.parse(CountItem, known).count
    return (wanted) => {
      const units = Math.ceil(wanted)
      if (units > maxSearchUnits) throw refusal(tooLarge)
      if (spent + units > searchBudget.limit) throw refusal()
      return add(units)
    }
  }
  return { key, reserver }
}

/**
 * Runs a search for a whole email address. Throws `too_many_requests` if 20 such searches of the caller have
 * found nobody within the last hour. This limit keeps callers from guessing masked addresses. The search is
 * counted before it runs, so simultaneous searches cannot exceed the limit. If it finds somebody or fails, it
 * is no longer counted.
 */
export async function limitMisses<Found extends { total: number }>(
  userId: number,
  search: () => Promise<Found>,
): Promise<Found> {
  const key = misses.key({ userId })
  const now = Date.now()
  const giveBack = () => giveBackTry(key, [missCounter], now)
  const item = await reserveTry(key, [missCounter], now, { isRecord: false })
  if (countTries(item, missCounter, now) > maxMisses) {
    const wait = secondsUntilBelow(await giveBack(), missCounter, { limit: maxMisses, now })
    throw new Failure('too_many_requests', { retryAfterSeconds: Math.max(1, wait) })
  }
  let found: Found | undefined
  try {
    return (found = await search())
  } finally {
    if (found?.total === 0) await removeExpiredCounts(key, item, now)
    else await giveBack()
  }
}

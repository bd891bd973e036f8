import * as v from 'valibot'
import { itemType } from '../../db/item-type.ts'
import { Integer, type Item, type Key, ttlAfter } from '../../db/table.ts'
import { writeItem } from '../../db/write.ts'
import { Failure } from '../../errors.ts'

/**
 * What the searches of one caller may cost in a minute of the clock. Each reads a part of every segment of a
 * list, so without a limit a few callers could use up the table's throughput.
 */
export const searchBudget = { readUnits: 5_000, milliseconds: 60_000 }

const budgets = itemType({
  pk: 'SEARCH#{userId}',
  sk: '{minute}',
  holds: 'the read units that a caller’s searches in a minute cost',
  found: 'by caller and minute',
})

/**
 * Reserves read units before they are read. Throws `too_many_requests` if the budget has no room: at once if
 * that is known without a write.
 */
export type ReserveUnits = (units: number) => Promise<void>

/** A caller's budget: the key of its item, and how to reserve from it, given the item as read before. */
export interface Budget {
  key: Key
  reserver: (known: Item | undefined) => ReserveUnits
}

const BudgetItem = v.object({ units: Integer })

/** The budget of a caller's searches in the current minute. */
export function searchBudgetOf(userId: number): Budget {
  const minute = Math.floor(Date.now() / searchBudget.milliseconds)
  const end = (minute + 1) * searchBudget.milliseconds
  const key = budgets.key({ userId, minute })
  const refusal = () =>
    new Failure('too_many_requests', {
      retryAfterSeconds: Math.max(1, Math.ceil((end - Date.now()) / 1_000)),
    })
  const reserver = (known: Item | undefined): ReserveUnits => {
    const spent = known === undefined ? 0 : v.parse(BudgetItem, known).units
    return (wanted) => {
      const units = Math.ceil(wanted)
      const room = searchBudget.readUnits - units
      if (spent > room) throw refusal()
      // One conditional write, so that simultaneous searches cannot exceed the budget together.
      const reservation = {
        Key: key,
        UpdateExpression: 'ADD units :units SET #ttl = :ttl',
        ConditionExpression: 'attribute_not_exists(units) OR units <= :room',
        ExpressionAttributeNames: { '#ttl': 'ttl' },
        ExpressionAttributeValues: { ':units': units, ':room': room, ':ttl': ttlAfter(end) },
      }
      return writeItem({ Update: reservation, otherwise: refusal }).then(() => undefined)
    }
  }
  return { key, reserver }
}

const addressMisses = itemType({
  pk: 'SEARCH#{userId}',
  sk: 'H#{hour}',
  holds: 'how many whole addresses a caller has searched for in an hour of the clock and found nobody',
  found: 'by caller and hour',
})

const maxAddressMisses = 20
const hourMilliseconds = 3_600_000

/**
 * Runs a search for a whole address, at most 20 of a caller in an hour that find nobody; then throws
 * `too_many_requests`, so that nobody guesses what a mask hides. Each counts as a miss until it has found
 * somebody, so simultaneous searches learn no more.
 */
export async function limitMisses<Found extends { total: number }>(
  userId: number,
  search: () => Promise<Found>,
): Promise<Found> {
  const hour = Math.floor(Date.now() / hourMilliseconds)
  const end = (hour + 1) * hourMilliseconds
  const count = (change: number) => ({
    Key: addressMisses.key({ userId, hour }),
    UpdateExpression: 'ADD misses :change SET #ttl = :ttl',
    ExpressionAttributeNames: { '#ttl': 'ttl' },
    ExpressionAttributeValues: { ':change': change, ':ttl': ttlAfter(end) },
  })
  const miss = count(1)
  await writeItem({
    Update: {
      ...miss,
      ConditionExpression: 'attribute_not_exists(misses) OR misses < :max',
      ExpressionAttributeValues: { ...miss.ExpressionAttributeValues, ':max': maxAddressMisses },
    },
    otherwise: () =>
      new Failure('too_many_requests', {
        retryAfterSeconds: Math.max(1, Math.ceil((end - Date.now()) / 1_000)),
      }),
  })
  const found = await search()
  if (found.total > 0) await writeItem({ Update: count(-1) })
  return found
}

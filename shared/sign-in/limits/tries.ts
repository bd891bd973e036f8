import * as v from 'valibot'
import { Integer, type Item, type Key, ttlAfter } from '../../db/table.ts'
import { writeItem } from '../../db/write.ts'

/**
 * Tries are counted in an item's attributes, one per counter and minute, for example `password@28333333`. So
 * a limit holds for any 60 minutes. With counts per clock hour, 60 minutes could have twice as many tries.
 */

const minuteMilliseconds = 60_000
const windowMinutes = 60

/** Name of the attribute that holds a counter's number of tries for the minute that contains `now`. */
export const tryAttribute = (counter: string, now: number): string =>
  `${counter}@${Math.floor(now / minuteMilliseconds)}`

interface MinuteCount {
  name: string
  counter: string
  tries: number
  /** The count expires at this instant, epoch milliseconds. */
  expiresAt: number
}

/** Reads all counts that an item holds, oldest first. */
function readCounts(item: Item | undefined): MinuteCount[] {
  const counts = Object.entries(item ?? {}).flatMap(([name, value]): MinuteCount[] => {
    const [, counter, minute] = /^(.+)@(\d+)$/.exec(name) ?? []
    if (counter === undefined) return []
    const expiresAt = (Number(minute) + 1 + windowMinutes) * minuteMilliseconds
    return [{ name, counter, tries: v.parse(Integer, value), expiresAt }]
  })
  return counts.sort((a, b) => a.expiresAt - b.expiresAt)
}

const liveCounts = (item: Item | undefined, counter: string, now: number): MinuteCount[] =>
  readCounts(item).filter((count) => count.counter === counter && count.expiresAt > now)

/** Number of tries that a counter has counted in the last hour. */
export const countTries = (item: Item | undefined, counter: string, now: number): number =>
  liveCounts(item, counter, now).reduce((sum, { tries }) => sum + tries, 0)

/** Seconds to wait until a counter's tries within the last hour are fewer than `limit`; 0 for no wait. */
export function secondsUntilBelow(
  item: Item | undefined,
  counter: string,
  { limit, now }: { limit: number; now: number },
): number {
  let count = countTries(item, counter, now)
  let until = now
  for (const { tries, expiresAt } of liveCounts(item, counter, now)) {
    if (count < limit) break
    count -= tries
    until = expiresAt
  }
  return Math.ceil((until - now) / 1000)
}

/** Names of the attributes to remove in order to reset a counter. */
export const attributesOf = (item: Item | undefined, counter: string): string[] =>
  readCounts(item).flatMap((count) => (count.counter === counter ? [count.name] : []))

/**
 * Names of all attributes that a counter can have now, to reset it without reading the item. The attribute of
 * the next minute is among them, because another instance's clock may be ahead.
 */
export const windowAttributes = (counter: string, now: number): string[] =>
  Array.from({ length: windowMinutes + 2 }, (_, i) =>
    tryAttribute(counter, now + (1 - i) * minuteMilliseconds),
  )

/** Builds the REMOVE clause of an update. It is empty if there is nothing to remove. */
export function removal(
  attributes: readonly string[],
  tickets: readonly string[] = [],
): { clause: string; names: Record<string, string> } {
  const old = [...new Set(attributes)].map((name, i) => ({ path: `#old${i}`, id: `#old${i}`, name }))
  const dead = [...new Set(tickets)].map((name, i) => ({ path: `tickets.#dead${i}`, id: `#dead${i}`, name }))
  const removed = [...old, ...dead]
  return {
    clause: removed.length === 0 ? '' : `REMOVE ${removed.map(({ path }) => path).join(', ')}`,
    names: Object.fromEntries(removed.map(({ id, name }) => [id, name])),
  }
}

/** A count of 0 is removed this long after its minute, when all requests of that minute have ended. */
const settledMilliseconds = 2 * minuteMilliseconds

/** Names of the counts that can be removed, because they are over an hour old or have fallen to 0. */
export const expiredAttributes = (item: Item | undefined, now: number): string[] =>
  readCounts(item).flatMap(({ name, tries, expiresAt }) => {
    const minuteEnd = expiresAt - windowMinutes * minuteMilliseconds
    const isSettled = tries === 0 && minuteEnd + settledMilliseconds <= now
    return expiresAt <= now || isSettled ? [name] : []
  })

/** Builds an ADD clause that adds `:by` to counters, in the minute of `now`. */
function additionTo(counters: readonly string[], now: number) {
  const names = Object.fromEntries(counters.map((counter, i) => [`#try${i}`, tryAttribute(counter, now)]))
  const added = Object.keys(names).map((name) => `${name} :by`)
  return { names, clause: `ADD ${added.join(', ')}` }
}

/**
 * Counts a try in the given counters of an item, and resolves with the changed item. Call this before
 * comparing the password, or simultaneous tries could together exceed a limit. A user's record must exist;
 * any other item is created if absent. `expired` names attributes to remove.
 */
export async function reserveTry(
  key: Key,
  counters: readonly string[],
  now: number,
  { isRecord, expired = [] }: { isRecord: boolean; expired?: readonly string[] },
): Promise<Item> {
  const removed = removal(expired)
  const addition = additionTo(counters, now)
  const reserve = {
    Update: {
      Key: key,
      UpdateExpression: `${addition.clause}${isRecord ? '' : ' SET #ttl = :ttl'} ${removed.clause}`,
      ...(isRecord && { ConditionExpression: 'attribute_exists(pk)' }),
      ExpressionAttributeNames: { ...removed.names, ...addition.names, ...(!isRecord && { '#ttl': 'ttl' }) },
      ExpressionAttributeValues: { ':by': 1, ...(!isRecord && { ':ttl': ttlAfter(now) }) },
    },
  }
  return (await writeItem(reserve, { returnNew: true })) ?? {}
}

/** Takes back a counted try, and resolves with the item. No count becomes negative. */
export async function giveBackTry(key: Key, counters: readonly string[], reservedAt: number): Promise<Item> {
  const { names, clause } = additionTo(counters, reservedAt)
  const giveBack = {
    Update: {
      Key: key,
      UpdateExpression: clause,
      ConditionExpression: Object.keys(names)
        .map((name) => `${name} >= :one`)
        .join(' AND '),
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: { ':by': -1, ':one': 1 },
    },
    isDone: () => true,
  }
  return (await writeItem(giveBack, { returnNew: true })) ?? {}
}

/**
 * When an item has this number of expired counts, the next wrong password removes them, so that no item grows
 * for ever.
 */
const maxExpiredCounts = 16

/** Removes the expired counts of an item if there are at least `maxExpiredCounts`. */
export async function removeExpiredCounts(key: Key, item: Item, now: number): Promise<void> {
  const expired = expiredAttributes(item, now)
  if (expired.length < maxExpiredCounts) return
  const { clause, names } = removal(expired)
  await writeItem({ Update: { Key: key, UpdateExpression: clause, ExpressionAttributeNames: names } })
}

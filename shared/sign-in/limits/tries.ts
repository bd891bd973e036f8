import * as v from 'valibot'
import { Integer, type Item } from '../../db/table.ts'

/**
 * Counts of tries over the last hour, in attributes of an item: one per counter and minute,
 * `password@28333333`. Counts per minute form a sliding window: no period of an hour, wherever it starts, has
 * more tries than the limit. A counter that is reset every hour would allow twice as many.
 */

const minuteMilliseconds = 60_000
const windowMinutes = 60

/** Name of the attribute that counts the tries of a counter in the minute of `now`. */
export const tryAttribute = (counter: string, now: number): string =>
  `${counter}@${Math.floor(now / minuteMilliseconds)}`

interface MinuteCount {
  name: string
  counter: string
  tries: number
  /** When all tries of the minute are at least an hour old, epoch milliseconds. */
  expiresAt: number
}

/** Reads every count of an item, oldest first. */
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

/** Number of tries of a counter within the last hour. */
export const countTries = (item: Item | undefined, counter: string, now: number): number =>
  liveCounts(item, counter, now).reduce((sum, { tries }) => sum + tries, 0)

/** Seconds until a counter has fewer than `limit` tries within the last hour; 0 if it has now. */
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

/** Names of the attributes of a counter, to reset it. */
export const attributesOf = (item: Item | undefined, counter: string): string[] =>
  readCounts(item).flatMap((count) => (count.counter === counter ? [count.name] : []))

/**
 * Names of all attributes that count a counter's tries now, for a reset without reading the item first. They
 * include the next minute, because the clock of another instance may be ahead.
 */
export const windowAttributes = (counter: string, now: number): string[] =>
  Array.from({ length: windowMinutes + 2 }, (_, i) =>
    tryAttribute(counter, now + (1 - i) * minuteMilliseconds),
  )

/** The part of an update that removes attributes: its clause, empty without any, and the names in it. */
export function removeAttributes(attributes: readonly string[]): {
  clause: string
  names: Record<string, string>
} {
  const names = Object.fromEntries(attributes.map((name, i) => [`#old${i}`, name]))
  return { clause: attributes.length === 0 ? '' : `REMOVE ${Object.keys(names).join(', ')}`, names }
}

/** How long after its minute no request is under way any more that would give a try of it back. */
const settledMilliseconds = 2 * minuteMilliseconds

/**
 * Names of the attributes of all counters that count nothing any more, to remove them: their tries are over
 * an hour old, or were all given back.
 */
export const expiredAttributes = (item: Item | undefined, now: number): string[] =>
  readCounts(item).flatMap(({ name, tries, expiresAt }) => {
    const minuteEnd = expiresAt - windowMinutes * minuteMilliseconds
    const isSettled = tries === 0 && minuteEnd + settledMilliseconds <= now
    return expiresAt <= now || isSettled ? [name] : []
  })

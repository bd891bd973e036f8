import { createHash } from 'node:crypto'
import { type Key, ttlAfter } from '../db/table.ts'
import { Failure } from '../errors.ts'
import { writeItem } from '../db/write.ts'

/** How many wrong passwords of one source, for one account or for all, are one too many within an hour. */
export interface GuessLimit {
  key: Key
  maxGuesses: number
}

type Item = Record<string, unknown>

const minuteMilliseconds = 60_000
const windowMinutes = 60

/**
 * The limits that a source is held to. They count by source, never by account alone: nobody can lock out somebody else.
 * All counters of a source are in one partition, so whoever floods them throttles nobody else.
 */
export function guessLimits(network: string, normalizedEmail: string): [GuessLimit, GuessLimit] {
  const account = createHash('sha256').update(normalizedEmail).digest('base64url')
  const pk = `GUESS#${network}`
  return [
    { key: { pk, sk: `ACCOUNT#${account}` }, maxGuesses: 10 },
    { key: { pk, sk: 'ALL' }, maxGuesses: 100 },
  ]
}

/** Throws `too_many_requests` when a limit has been reached by what has been counted. */
export function enforceGuessLimit(limits: GuessLimit[], counters: (Item | undefined)[], now: number): void {
  const waits = limits.map(({ maxGuesses: most }, i) => waitSeconds(countsByMinute(counters[i]), most, now))
  const longest = Math.max(...waits)
  if (longest > 0) throw new Failure('too_many_requests', { retryAfterSeconds: longest })
}

/**
 * Counts a wrong password towards each limit, and throws `too_many_requests` when it was the one too many. `known` is
 * what was read of the counters before; it only tells which old minutes can be tidied away.
 */
export async function recordFailedGuess(
  limits: GuessLimit[],
  known: (Item | undefined)[],
  now: number,
): Promise<void> {
  const counters = await Promise.all(limits.map(({ key }, i) => increment(key, known[i], now)))
  enforceGuessLimit(limits, counters, now)
}

/**
 * Adds one to the counter of this minute. A count by minutes slides: no hour, wherever it begins, sees more guesses
 * than the limit, which a counter that starts afresh every hour would allow.
 */
async function increment(key: Key, known: Item | undefined, now: number): Promise<Item | undefined> {
  const stale = [...countsByMinute(known).keys()].filter((minute) => leavesAt(minute) <= now)
  const names = Object.fromEntries(stale.map((minute, i) => [`#stale${i}`, attributeOf(minute)]))
  const update = {
    Update: {
      Key: key,
      UpdateExpression: [
        'ADD #now :one',
        'SET #ttl = :ttl',
        ...(stale.length > 0 ? [`REMOVE ${Object.keys(names).join(', ')}`] : []),
      ].join(' '),
      ExpressionAttributeNames: {
        ...names,
        '#now': attributeOf(Math.floor(now / minuteMilliseconds)),
        '#ttl': 'ttl',
      },
      ExpressionAttributeValues: { ':one': 1, ':ttl': ttlAfter(now) },
    },
  }
  return writeItem(update, { returnNew: true })
}

const attributeOf = (minute: number): string => `m${minute}`

/** When a minute's guesses are all an hour old; epoch milliseconds. */
const leavesAt = (minute: number): number => (minute + 1 + windowMinutes) * minuteMilliseconds

/** The counts in a counter by their minute since the epoch, oldest first. */
function countsByMinute(counter: Item | undefined): Map<number, number> {
  const counts = Object.entries(counter ?? {}).flatMap(([name, value]): [number, number][] => {
    const minute = /^m(\d+)$/.exec(name)?.[1]
    return minute === undefined ? [] : [[Number(minute), Number((value as { value: string }).value)]]
  })
  return new Map(counts.sort(([a], [b]) => a - b))
}

/** Seconds until fewer than `most` guesses are within the hour; 0 when that is so now. */
function waitSeconds(counts: Map<number, number>, most: number, now: number): number {
  const live = [...counts].filter(([minute]) => leavesAt(minute) > now)
  let count = live.reduce((sum, [, guesses]) => sum + guesses, 0)
  let until = now
  for (const [minute, guesses] of live) {
    if (count < most) break
    count -= guesses
    until = leavesAt(minute)
  }
  return Math.ceil((until - now) / 1000)
}

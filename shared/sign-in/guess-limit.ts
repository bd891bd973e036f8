import { createHash } from 'node:crypto'
import { isIPv4, isIPv6 } from 'node:net'
import { itemType } from '../db/item-type.ts'
import { type Item, type Key, ttlAfter } from '../db/table.ts'
import { writeItem } from '../db/write.ts'
import { Failure } from '../errors.ts'

/** A limit of wrong passwords: the key of its counter, and the number per hour that blocks the source. */
export interface GuessLimit {
  key: Key
  maxGuesses: number
}

type Counter = Item | undefined

const accountGuesses = itemType({
  pk: 'GUESS#{network}',
  sk: 'ACCOUNT#{addressHash}',
  holds: 'wrong passwords per minute from a source network for one account',
  found: 'by source network and email address',
})

const allGuesses = itemType({
  pk: 'GUESS#{network}',
  sk: 'ALL',
  holds: 'wrong passwords per minute from a source network over all accounts',
  found: 'by source network',
})

const minuteMilliseconds = 60_000
const windowMinutes = 60

/**
 * The limits of a source network: for one account, and over all accounts. They count by source and never by
 * account alone, so nobody can lock another person out. All counters of a source are in one partition, so a
 * flood of guesses throttles only that source.
 */
export function guessLimits(sourceIp: string, normalizedEmail: string): [GuessLimit, GuessLimit] {
  const network = sourceNetwork(sourceIp)
  const addressHash = createHash('sha256').update(normalizedEmail).digest('base64url')
  return [
    { key: accountGuesses.key({ network, addressHash }), maxGuesses: 10 },
    { key: allGuesses.key({ network }), maxGuesses: 100 },
  ]
}

/** Throws `too_many_requests` if one of the counters, in the order of the limits, reached its limit. */
export function enforceGuessLimit(limits: GuessLimit[], counters: Counter[], now: number): void {
  const waits = limits.map(({ maxGuesses }, i) => waitSeconds(countsByMinute(counters[i]), maxGuesses, now))
  const longest = Math.max(...waits)
  if (longest > 0) throw new Failure('too_many_requests', { retryAfterSeconds: longest })
}

/**
 * Counts a wrong password towards each limit, and throws `too_many_requests` when it reaches one. `known` are
 * the counters as read before; they are only used to find expired minutes to remove.
 */
export async function recordFailedGuess(limits: GuessLimit[], known: Counter[], now: number): Promise<void> {
  const counters = await Promise.all(limits.map(({ key }, i) => increment(key, known[i], now)))
  enforceGuessLimit(limits, counters, now)
}

/**
 * Adds one wrong password to the counter's attribute of this minute. Counts per minute form a sliding window:
 * no period of an hour, wherever it starts, has more guesses than the limit. A counter that is reset every
 * hour would allow twice as many.
 */
async function increment(key: Key, known: Counter, now: number): Promise<Counter> {
  const stale = [...countsByMinute(known).keys()].filter((minute) => expiryOf(minute) <= now)
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

/** When all guesses of a minute are at least an hour old, epoch milliseconds. */
const expiryOf = (minute: number): number => (minute + 1 + windowMinutes) * minuteMilliseconds

/** Reads a counter's guesses by minute since the epoch, oldest first. */
function countsByMinute(counter: Counter): Map<number, number> {
  const counts = Object.entries(counter ?? {}).flatMap(([name, value]): [number, number][] => {
    const minute = /^m(\d+)$/.exec(name)?.[1]
    return minute === undefined ? [] : [[Number(minute), Number((value as { value: string }).value)]]
  })
  return new Map(counts.sort(([a], [b]) => a - b))
}

/** Seconds until fewer than `maxGuesses` guesses are within the last hour; 0 if that is already so. */
function waitSeconds(counts: Map<number, number>, maxGuesses: number, now: number): number {
  const live = [...counts].filter(([minute]) => expiryOf(minute) > now)
  let count = live.reduce((sum, [, guesses]) => sum + guesses, 0)
  let until = now
  for (const [minute, guesses] of live) {
    if (count < maxGuesses) break
    count -= guesses
    until = expiryOf(minute)
  }
  return Math.ceil((until - now) / 1000)
}

/**
 * Returns the source network that a request is counted under: the IPv4 address, or the /64 of an IPv6
 * address, which is the smallest network that a customer gets (RFC 6177 §2). An IPv4-mapped IPv6 address (RFC
 * 4291 §2.5.5.2) counts as its IPv4 address.
 */
export function sourceNetwork(address: string): string {
  if (isIPv4(address)) return address
  const bare = address.split('%')[0] ?? ''
  if (!isIPv6(bare)) return 'unknown'
  // The URL parser normalizes any spelling of an IPv6 address: lower case, one `::`, no dots (WHATWG URL
  // §3.5).
  const groups = expandIpv6(new URL(`http://[${bare}]/`).hostname.slice(1, -1))
  if (groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff') return mappedIpv4(groups)
  return `${groups.slice(0, 4).join(':')}::/64`
}

/** Expands an IPv6 address to its eight groups. */
function expandIpv6(address: string): string[] {
  const [head = '', tail] = address.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array<string>(8 - before.length - after.length).fill('0')
  return [...before, ...zeros, ...after]
}

/** Reads the IPv4 address in the last two groups of an IPv4-mapped IPv6 address. */
const mappedIpv4 = (groups: string[]): string =>
  groups
    .slice(6)
    .map((group) => Number.parseInt(group, 16))
    .flatMap((value) => [value >> 8, value & 255])
    .join('.')

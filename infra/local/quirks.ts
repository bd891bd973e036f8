import { InvalidArgumentError } from 'commander'
import { createHash, randomInt } from 'node:crypto'

/** What each quirk does. A quirk is a fault or delay of AWS that the local stack imitates with `--aws`. */
export const quirkMeanings = {
  conflicts: 'DynamoDB refuses writes and transactions because of another transaction on their items',
  throttles: 'AWS services refuse calls with their own throttling errors',
  'duplicate-events': 'EventBridge delivers events twice',
  'late-messages': 'standard queues deliver messages late, in another order and twice',
  'lost-answers': 'the answer to a batch is lost; its messages, and their groups, wait for their visibility',
  timeouts: 'functions that queues call are ended in the middle, as at their timeout',
  freezes: 'functions stand still between two calls, and their connections are closed meanwhile',
  'late-keys': 'existence, tags and states of KMS keys take up to five minutes to count',
} as const
export type Quirk = keyof typeof quirkMeanings

const names = Object.keys(quirkMeanings) as Quirk[]

/** The chosen quirks (faults and delays of AWS), and the seed of their random draws. */
export interface QuirkOptions {
  quirks: readonly Quirk[]
  seed: number
  /** Visibility timeouts and KMS's delays are shortened by this factor. Default: 1. */
  speed?: number
}

/**
 * Parses a list such as `conflicts,seed=7,speed=60` or `all`. The seed is random by default. Throws an
 * `InvalidArgumentError` if the list has unknown or wrong parts.
 */
export function parseQuirks(text: string): QuirkOptions {
  const words = text.split(',')
  const chosen = words.filter((word) => !word.includes('='))
  const unknown = chosen.find((word) => word !== 'all' && !names.some((name) => name === word))
  if (unknown !== undefined || chosen.length === 0)
    throw new InvalidArgumentError(`'${unknown ?? ''}' is none of all, ${names.join(', ')}.`)
  const numbers = { seed: randomInt(1_000_000), speed: 1 }
  for (const word of words.filter((each) => each.includes('='))) {
    const [, name, value] = /^(seed|speed)=(\d{1,9})$/.exec(word) ?? []
    if (name === undefined)
      throw new InvalidArgumentError(`'${word}' is neither seed=NUMBER nor speed=NUMBER.`)
    numbers[name as keyof typeof numbers] = Number(value)
  }
  if (numbers.speed === 0) throw new InvalidArgumentError('the speed is at least 1.')
  return { quirks: names.filter((name) => chosen.includes('all') || chosen.includes(name)), ...numbers }
}

/** Formats quirks as a value of `--aws`, with which a later run repeats the same faults and delays. */
export function describeQuirks({ quirks, seed, speed = 1 }: QuirkOptions): string {
  const chosen = quirks.length === names.length ? 'all' : quirks.join(',')
  return `${chosen},seed=${seed}${speed === 1 ? '' : `,speed=${speed}`}`
}

/** The chosen quirks (faults and delays of AWS), with their random draws. */
export interface Quirks {
  readonly speed: number
  has: (quirk: Quirk) => boolean
  /** Draws a number of at least 0 and under 1. */
  draw: (quirk: Quirk, stream: string) => number
  /** Returns true with the given probability. Always false for a quirk that `--aws` does not choose. */
  happens: (quirk: Quirk, stream: string, probability: number) => boolean
}

/**
 * Draws random numbers for the chosen quirks. Each `stream` has its own series of numbers, which depends only
 * on the seed. A stream is, for example, all calls of one operation by one function.
 */
export function openQuirks(options: QuirkOptions = { quirks: [], seed: 0 }): Quirks {
  const { quirks, seed, speed = 1 } = options
  const counts = new Map<string, number>()
  const has = (quirk: Quirk) => quirks.includes(quirk)
  const draw = (quirk: Quirk, stream: string) => {
    const key = `${seed} ${quirk} ${stream}`
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    return createHash('sha256').update(`${key} ${count}`).digest().readUInt32BE() / 2 ** 32
  }
  return {
    speed,
    has,
    draw,
    happens: (quirk, stream, probability) => has(quirk) && draw(quirk, stream) < probability,
  }
}

import { InvalidArgumentError } from 'commander'
import { createHash, randomInt } from 'node:crypto'

/** What each manner does. A manner is a fault or delay of AWS that the local stack imitates with `--aws`. */
export const mannerMeanings = {
  conflicts: 'DynamoDB refuses writes and transactions because of another transaction on their items',
  throttles: 'AWS services refuse calls with their own throttling errors',
  'duplicate-events': 'EventBridge delivers events twice',
  'late-messages': 'standard queues deliver messages late, in another order and twice',
  'lost-answers': 'the answer to a batch is lost; its messages, and their groups, wait for their visibility',
  timeouts: 'functions that queues call are ended in the middle, as at their timeout',
  freezes: 'functions stand still between two calls, and their connections are closed meanwhile',
  'late-keys': 'existence, tags and states of KMS keys take up to five minutes to count',
} as const
export type Manner = keyof typeof mannerMeanings

const names = Object.keys(mannerMeanings) as Manner[]

/** The chosen manners (faults and delays of AWS), and the seed of their random draws. */
export interface MannerOptions {
  manners: readonly Manner[]
  seed: number
  /** Divisor of visibility timeouts and of the delays of KMS key changes. Default: 1. */
  speed?: number
}

/**
 * Reads manners separated by commas, or `all`, with an optional seed and speed: `conflicts,seed=7,speed=60`.
 * Without a seed it chooses one. Throws an `InvalidArgumentError` on anything else.
 */
export function parseManners(text: string): MannerOptions {
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
  return { manners: names.filter((name) => chosen.includes('all') || chosen.includes(name)), ...numbers }
}

/** Formats manners as a value of `--aws`, with which a later run repeats the same faults and delays. */
export function describeManners({ manners, seed, speed = 1 }: MannerOptions): string {
  const chosen = manners.length === names.length ? 'all' : manners.join(',')
  return `${chosen},seed=${seed}${speed === 1 ? '' : `,speed=${speed}`}`
}

/** The chosen manners (faults and delays of AWS), with their random draws. */
export interface Manners {
  readonly speed: number
  has: (manner: Manner) => boolean
  /** Draws a number of at least 0 and under 1. */
  draw: (manner: Manner, stream: string) => number
  /** Draws whether a fault or delay of this probability happens; false for a manner that is not chosen. */
  happens: (manner: Manner, stream: string, probability: number) => boolean
}

/**
 * Creates the random draws of the chosen manners. Each `stream`, such as the calls of one operation by one
 * function, has its own series of draws from the seed, so other functions' calls do not change the series.
 */
export function openManners(options: MannerOptions = { manners: [], seed: 0 }): Manners {
  const { manners, seed, speed = 1 } = options
  const counts = new Map<string, number>()
  const has = (manner: Manner) => manners.includes(manner)
  const draw = (manner: Manner, stream: string) => {
    const key = `${seed} ${manner} ${stream}`
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    return createHash('sha256').update(`${key} ${count}`).digest().readUInt32BE() / 2 ** 32
  }
  return {
    speed,
    has,
    draw,
    happens: (manner, stream, probability) => has(manner) && draw(manner, stream) < probability,
  }
}

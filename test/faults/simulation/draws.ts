import { hash } from 'node:crypto'

/** Random draws in named series (streams). Each series depends only on the seed and its own name. */
export interface Draws {
  /** Draws a number of at least 0 and under 1. */
  number: (stream: string) => number
  /** Draws a whole number of at least 0 and under `end`. */
  below: (stream: string, end: number) => number
  /** Decides at random, with this probability, whether something happens. */
  happens: (stream: string, probability: number) => boolean
  pick: <T>(stream: string, items: readonly T[]) => T
}

/** Creates a generator of random draws from a seed, which determines all draws. */
export function openDraws(seed: number): Draws {
  const counts = new Map<string, number>()
  const number = (stream: string): number => {
    const count = (counts.get(stream) ?? 0) + 1
    counts.set(stream, count)
    return Number.parseInt(hash('sha256', `${seed} ${stream} ${count}`).slice(0, 13), 16) / 2 ** 52
  }
  const below = (stream: string, end: number) => Math.floor(number(stream) * end)
  return {
    number,
    below,
    happens: (stream, probability) => probability > 0 && number(stream) < probability,
    pick: <T>(stream: string, items: readonly T[]) => items[below(stream, items.length)] as T,
  }
}

import { createHash } from 'node:crypto'

/** Random draws that follow from a seed alone, so that a run can be repeated (generator: mulberry32). */
export class Random {
  #state: number

  constructor(seed: string) {
    this.#state = createHash('sha256').update(seed).digest().readUInt32BE()
  }

  /** Draws a number of at least 0 and under 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** Draws a whole number of at least 0 and under `limit`. */
  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  /** Draws whether something with this probability happens. */
  happens(probability: number): boolean {
    return this.next() < probability
  }

  /** Draws one of the items; throws if there is none. */
  pick<Item>(items: readonly Item[]): Item {
    if (items.length === 0) throw new Error('there is nothing to draw from')
    return items[this.below(items.length)] as Item
  }
}

import type { Draws } from './draws.ts'
import { contentOf, type SimulationRecord } from './record.ts'

/** Calls an endpoint as a user, and resolves with the `data` of its answer. */
export type Get = (path: string, query?: string, parameters?: Record<string, string>) => Promise<unknown>

/** The input of the checks of a user's data. */
export interface CheckContext {
  record: SimulationRecord
  userId: number
  get: Get
  draws: Draws
  now: number
}

/** Describes the difference between `shown` and `expected`; an empty list if they are equal. */
export const differ = (what: string, shown: unknown, expected: unknown): string[] =>
  contentOf(shown) === contentOf(expected)
    ? []
    : [`${what}: shown ${contentOf(shown)}, expected ${contentOf(expected)}`]

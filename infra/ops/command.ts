import { InvalidArgumentError } from 'commander'
import * as v from 'valibot'
import { Day, UserId } from '../../shared/fields.ts'
import type { Report } from './report.ts'
import type { Target } from './target.ts'
import type { Terminal } from './terminal.ts'

/** What a command gets: its deployment, the terminal, and a function that prints the result. */
export interface CommandContext {
  target: Target
  terminal: Terminal
  /** Whether the result is printed as JSON. */
  json: boolean
  /**
   * With `--json`, prints `result` as JSON. Otherwise, prints `report`, or without one `text` (default:
   * `result`) as lines and tables. Returns `ok` (default: that of the report, or true). If `ok` is false, the
   * exit code is 1.
   */
  show: (result: object, options?: { ok?: boolean; text?: object; report?: Report }) => boolean
}

/** Runs a command's work on the chosen deployment. The exit code is 1 if the work resolves with false. */
export type RunCommand = (work: (context: CommandContext) => Promise<boolean>) => Promise<void>

/** Formats the examples at the end of a command's help: command lines, each with its effect. */
export const examples = (effects: Record<string, string>): string =>
  `\nExamples:${Object.entries(effects)
    .map(([line, effect]) => `\n  $ npm run --silent ops -- ${line}\n      ${effect}`)
    .join('')}`

/** Parses a command-line option that is a whole number of at least 1. */
export function readCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('not a whole number from 1.')
  return Number(text)
}

/** Parses a command-line option that is a user id. */
export function readUserId(text: string): number {
  const result = v.safeParse(UserId, text)
  if (!result.success) throw new InvalidArgumentError('not a user id.')
  return result.output
}

const instantShape = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/

/** Parses a command-line option that is an instant, and returns epoch milliseconds. */
export function readInstant(text: string): number {
  // Date.parse takes the 30th of February for the 2nd of March.
  const [, day] = instantShape.exec(text) ?? []
  const instant = v.is(Day, day) ? Date.parse(text) : NaN
  if (Number.isNaN(instant)) throw new InvalidArgumentError('not an instant such as 2026-11-22T12:00:00Z.')
  return instant
}

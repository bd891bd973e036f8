import { InvalidArgumentError } from 'commander'
import * as v from 'valibot'
import { UserId } from '../../shared/fields.ts'
import { UsageError } from './errors.ts'
import type { Target } from './target.ts'
import type { Terminal } from './terminal.ts'

/** What a command works with. */
export interface CommandContext {
  target: Target
  terminal: Terminal
  /** Prints a result: as JSON with `--json`, otherwise the text. */
  show: (result: unknown, text: () => string) => void
}

/** Runs a command's work on the chosen deployment. If the work resolves with false, the exit code is 1. */
export type RunCommand = (work: (context: CommandContext) => Promise<boolean>) => Promise<void>

/** The end of a command's help: example command lines, each with its effect. */
export const examples = (lines: [commandLine: string, effect: string][]): string =>
  `\nExamples:\n${lines.map(([line, effect]) => `  $ npm run ops -- ${line}\n      ${effect}`).join('\n')}`

/** Parses an option whose value is a whole number from 1. */
export function readCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('not a whole number from 1.')
  return Number(text)
}

/** Parses an option whose value is a user id. */
export function readUserId(text: string): number {
  const result = v.safeParse(UserId, text)
  if (!result.success) throw new InvalidArgumentError('not a user id.')
  return result.output
}

const maxSecretBytes = 4_096

/** Reads a secret from standard input, because command lines end up in process lists and histories. */
export async function readSecret(terminal: Terminal, name: string): Promise<string> {
  let text = ''
  for await (const chunk of terminal.readInput()) {
    text += Buffer.from(chunk).toString('utf8')
    if (text.includes('\n') || text.length > maxSecretBytes) break
  }
  const [line = ''] = text.split(/\r?\n/, 1)
  if (line === '') throw new UsageError(`standard input must contain the ${name}`)
  return line
}

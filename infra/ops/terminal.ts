import { styleText } from 'node:util'

/** What a line of a result says. A terminal shows it by colours and marks, a pipe not at all. */
export type Tone = 'all well' | 'something wrong' | 'well' | 'wrong' | 'title'

/** The input and output of a command. */
export interface Terminal {
  /** Writes a command's result to standard output; with a tone, one line of it. */
  out: (text: string, tone?: Tone) => void
  /** Writes everything that is not a result, such as progress and errors, to standard error. */
  err: (text: string) => void
  readInput: () => AsyncIterable<Uint8Array>
  /** Number of columns of the screen. Undefined for a pipe or file, where no line is wrapped. */
  columns?: number | undefined
  /** The screen on which progress is shown; undefined if there is none. */
  screen?: NodeJS.WriteStream | undefined
}

/**
 * Decorates a line for people. The mark takes the place of the two spaces with which a row begins, so that
 * columns stay where they are. Node.js decides whether a stream gets colours: not if it is a pipe, nor with
 * NO_COLOR or TERM=dumb, and always with FORCE_COLOR (`util.styleText`).
 */
export function decorate(text: string, tone: Tone | undefined, stream: NodeJS.WritableStream): string {
  const style = (...[format, part]: Parameters<typeof styleText>) => styleText(format, part, { stream })
  if (tone === undefined || style('bold', text) === text) return text
  switch (tone) {
    case 'all well':
      return style(['bold', 'green'], `✔ ${text}`)
    case 'something wrong':
      return style(['bold', 'red'], `✘ ${text}`)
    case 'well':
      return style('green', '✔') + text.slice(1)
    case 'wrong':
      return style('red', '✘') + text.slice(1)
    case 'title':
      return style('bold', text)
  }
}

/** The standard input and output of this process. */
export const processTerminal: Terminal = {
  out: (text, tone) => void process.stdout.write(`${decorate(text, tone, process.stdout)}\n`),
  err: (text) => void process.stderr.write(`${text}\n`),
  readInput: () => process.stdin,
  columns: process.stdout.columns,
  // A dumb terminal cannot go back to the start of a line.
  screen: process.stderr.isTTY && process.env['TERM'] !== 'dumb' ? process.stderr : undefined,
}

/**
 * Lets a command end its work if nobody can read what it writes: a replay, for one, blocks events until its
 * end. A closed pipe is no failure, because a reader such as `head` does not want the rest.
 */
export function keepRunning(stream: NodeJS.WriteStream): void {
  stream.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') return
    if (stream !== process.stderr) process.stderr.write(`cannot write the result: ${message}\n`)
    process.exitCode = 1
  })
}

/** Control, bidi and other invisible characters, except the line feed. */
const controls = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Shows each unit of a text as a JSON escape. */
export const escapeUnits = (text: string): string =>
  text.replaceAll(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/**
 * Shows control and bidi characters as JSON escapes, so that text from users, clients or event senders cannot
 * move the cursor, recolour or reorder an operator's screen. The escapes do not change the meaning of JSON.
 */
export const showControls = (text: string): string => text.replaceAll(controls, escapeUnits)

/** Wraps a terminal so that control characters are written to it as escapes. */
export const withoutControls = (terminal: Terminal): Terminal => ({
  ...terminal,
  out: (text, tone) => terminal.out(showControls(text), tone),
  err: (text) => terminal.err(showControls(text)),
})

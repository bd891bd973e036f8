/** The input and output of a command. */
export interface Terminal {
  /** Writes a command's result to standard output. */
  out: (text: string) => void
  /** Writes everything that is not a result, such as progress and errors, to standard error. */
  err: (text: string) => void
  /** Reads standard input. */
  readInput: () => AsyncIterable<Uint8Array>
}

/** The standard input and output of this process. */
export const processTerminal: Terminal = {
  out: (text) => void process.stdout.write(`${text}\n`),
  err: (text) => void process.stderr.write(`${text}\n`),
  readInput: () => process.stdin,
}

/** Control, bidi and other invisible characters, except the line feed. */
const controls = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

const escapeUnits = (text: string): string =>
  text.replaceAll(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/**
 * Shows control and bidi characters as JSON escapes, which leaves JSON the same JSON. What senders of events,
 * users and clients write must not move the cursor, recolour or reorder what an operator reads.
 */
export const showControls = (text: string): string => text.replaceAll(controls, escapeUnits)

/** A terminal to which no control characters are written. */
export const withoutControls = (terminal: Terminal): Terminal => ({
  ...terminal,
  out: (text) => terminal.out(showControls(text)),
  err: (text) => terminal.err(showControls(text)),
})

/** Shows a text in one line, so that it cannot look like several. */
export const inOneLine = (text: string): string => showControls(text).replaceAll('\n', escapeUnits)

/** Formats a text table whose columns are as wide as their widest cell. */
export function formatTable(head: string[], cells: string[][]): string {
  const rows = cells.map((row) => row.map(inOneLine))
  const widths = head.map((cell, column) =>
    Math.max(cell.length, ...rows.map((row) => (row[column] ?? '').length)),
  )
  return [head, ...rows]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Formats epoch milliseconds in UTC, to the second; `-` for none. */
export const formatInstant = (instant: number | null | undefined): string =>
  instant === null || instant === undefined
    ? '-'
    : new Date(instant)
        .toISOString()
        .replace('T', ' ')
        .replace(/\.\d+Z$/, 'Z')

const units: [string, number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
]

/** Formats a duration in its two largest units, for example `1 d 3 h`. */
export function formatDuration(milliseconds: number): string {
  const parts: string[] = []
  let rest = Math.abs(milliseconds)
  for (const [unit, size] of units) {
    const count = Math.floor(rest / size)
    rest -= count * size
    if (count > 0) parts.push(`${count} ${unit}`)
  }
  return parts.length === 0 ? '0 s' : parts.slice(0, 2).join(' ')
}

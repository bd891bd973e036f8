/** Where a command writes to: results to `out`, everything that is about them to `err`. */
export interface Terminal {
  out: (text: string) => void
  err: (text: string) => void
  /** Text of standard input, for what must not stand on a command line. */
  readInput: () => AsyncIterable<Uint8Array>
  /** Whether `err` is a person's terminal, where a progress bar may move. */
  interactive: boolean
}

/** The terminal of this process. */
export const processTerminal: Terminal = {
  out: (text) => void process.stdout.write(`${text}\n`),
  err: (text) => void process.stderr.write(`${text}\n`),
  readInput: () => process.stdin,
  interactive: process.stderr.isTTY,
}

/** Columns as wide as their widest cell, for a person. */
export function formatTable(heads: string[], rows: string[][]): string {
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...rows.map((row) => (row[column] ?? '').length)),
  )
  return [heads, ...rows]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** An instant for a person: UTC, to the second; a dash where there is none. */
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

/** A span of time for a person, in its two largest units. */
export function formatSpan(milliseconds: number): string {
  const parts: string[] = []
  let rest = Math.abs(milliseconds)
  for (const [unit, size] of units) {
    const count = Math.floor(rest / size)
    rest -= count * size
    if (count > 0) parts.push(`${count} ${unit}`)
  }
  return parts.length === 0 ? '0 s' : parts.slice(0, 2).join(' ')
}

import { escapeUnits, showControls } from './terminal.ts'

/** Shows a text in one line, so that it cannot look like several lines. */
export const inOneLine = (text: string): string => showControls(text).replaceAll('\n', escapeUnits)

/** Formats a result as text: its plain members as lines, and its lists of objects as tables below them. */
export function formatResult(result: object): string {
  const members = Object.entries(result)
  const tables = members.filter(([, value]) => isTable(value))
  const lines = members.filter(([, value]) => !isTable(value))
  const width = Math.max(0, ...lines.map(([name]) => name.length)) + 2
  return [
    ...lines.map(([name, value]) => name.padEnd(width) + formatValue(name, value)),
    ...tables.map(([name, rows]) => `\n${name}\n${formatTable(rows as object[])}`),
  ]
    .join('\n')
    .trimStart()
}

const isTable = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((row) => typeof row === 'object')

/** Formats objects as a table with a column for each member. Each column is as wide as its widest cell. */
export function formatTable(rows: readonly object[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const cells = rows.map((row) =>
    names.map((name) => formatValue(name, (row as Record<string, unknown>)[name])),
  )
  const titles = names.map((name) => name.replace(/_milliseconds$/, '').replaceAll('_', ' '))
  const lines = [titles.map((title) => title.toUpperCase()), ...cells]
  const widths = names.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)))
  const format = (line: string[]) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')
  return lines.map((line) => format(line).trimEnd()).join('\n')
}

function formatValue(name: string, value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (typeof value === 'number' && /(^|_)(at|since|due)$/.test(name)) return formatInstant(value)
  if (typeof value === 'number' && name.endsWith('_milliseconds')) return formatDuration(value)
  return inOneLine(typeof value === 'string' ? value : JSON.stringify(value))
}

/**
 * Formats epoch milliseconds in UTC, to the second; `-` for none. An edited record may have a number that is
 * no date: it stays a number.
 */
export function formatInstant(instant: number | null | undefined): string {
  if (instant === null || instant === undefined) return '-'
  const date = new Date(instant)
  if (Number.isNaN(date.getTime())) return `${instant} ms`
  return date
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, 'Z')
}

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

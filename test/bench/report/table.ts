/** A cell of a table; undefined is printed as a dash. */
export type Cell = string | number | undefined
export type Row = Record<string, Cell>

/** Figures of one part of the benchmark. The first column names the row. */
export interface Table {
  /** The name by which lines.ts finds it. */
  name: string
  title: string
  /** How the figures were taken, and what they do not say. */
  notes: string[]
  rows: Row[]
}

/** Formats a table with columns as wide as they need to be, numbers to the right. */
export function formatTable({ title, notes, rows }: Table): string {
  const columns = [...new Set(rows.flatMap(Object.keys))]
  const texts = [columns, ...rows.map((row) => columns.map((column) => formatCell(row[column])))]
  const widths = columns.map((_column, i) => Math.max(...texts.map((cells) => (cells[i] ?? '').length)))
  const isNumeric = columns.map((column) => rows.some((row) => typeof row[column] === 'number'))
  const lines = texts.map((cells) =>
    cells
      .map((text, i) => (isNumeric[i] ? text.padStart(widths[i] ?? 0) : text.padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
  const [head = '', ...body] = lines
  return [`## ${title}`, ...notes, '', head, '-'.repeat(head.length), ...body, ''].join('\n')
}

/** Four significant digits at the most, and whole numbers in full. */
export function formatCell(value: Cell): string {
  if (value === undefined) return '–'
  if (typeof value === 'string') return value
  return value.toLocaleString(
    'en-US',
    Math.abs(value) >= 1000 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 4 },
  )
}

/** Rounds for JSON, where a figure has more digits than it can be trusted for. */
export const round = (value: number, digits = 4): number => Number(value.toPrecision(digits))

import { isoInstant } from '../dates.ts'
import { Big } from '../money.ts'

/** A value of a CSV cell. */
type Value = string | number | Big | null

/** A row of a table whose columns are the members of this record. */
export type CsvRecord<Column extends string = string> = Readonly<Record<Column, Value>>

/** What formats the lines of a CSV table. Each line ends with CR LF (RFC 4180 §2). */
export interface CsvTable<Column extends string> {
  /** The beginning of the file: a byte order mark, by which spreadsheets know UTF-8, and the column names. */
  head: string
  /** Formats a record as a line of the table. */
  line: (record: CsvRecord<Column>) => string
}

/**
 * Creates a CSV table (RFC 4180). After each column of instants (`…_at`, epoch milliseconds) comes a column
 * `…_at_iso` with the same instants in ISO 8601, in the reporting time zone.
 */
export function csvTable<Column extends string>(columns: readonly Column[]): CsvTable<Column> {
  const names = columns.flatMap((column) => (isInstant(column) ? [column, `${column}_iso`] : [column]))
  const cells = (record: CsvRecord<Column>) =>
    columns.flatMap((column) => {
      const value = record[column]
      return isInstant(column) ? [toCell(value), toIsoCell(value)] : [toCell(value)]
    })
  return { head: byteOrderMark + toLine(names), line: (record) => toLine(cells(record)) }
}

const byteOrderMark = '\ufeff'

const isInstant = (column: string): boolean => column.endsWith('_at')

const toLine = (cells: readonly string[]): string => `${cells.map(quote).join(',')}\r\n`

/**
 * Quotes a cell that contains a quote or a separator. In many countries, spreadsheets expect semicolons or
 * tabs between cells. A CR or LF ends a row, even without the other.
 */
const quote = (cell: string): string => (/[",;\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)

function toCell(value: Value): string {
  if (value === null) return ''
  if (value instanceof Big) return value.toFixed()
  return typeof value === 'number' ? String(value) : textCell(value)
}

const toIsoCell = (value: Value): string => (typeof value === 'number' ? isoInstant(value) : '')

/**
 * Finds the characters, plain or full-width, that start a spreadsheet formula. A formula starts at the
 * beginning of the text or after a separator. Spaces and quotes may precede it. Quoting the cell does not
 * help: if the separator is not the comma, spreadsheets take the quotes for text. The pattern matches the
 * character first, and then looks back. The other order would take quadratic time.
 */
const formula = /[=+\-@＝＋－＠](?<=(?:^|[;\t\r\n])[\s"]*.)/gu

/**
 * Puts an apostrophe before each formula in a text, so that no spreadsheet evaluates any part of the text.
 * Removes NUL first, so that no formula can hide behind it.
 */
export const textCell = (text: string): string => text.replaceAll('\0', '').replaceAll(formula, "'$&")

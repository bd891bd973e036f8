import { Reply } from '../http/reply.ts'
import { Big } from '../money.ts'
import { Member } from './profile.ts'

const columns = Object.keys(Member.entries) as (keyof Member)[]

/** Formats members as a CSV download (RFC 4180): UTF-8 with a byte order mark and a header line. */
export function membersCsv(members: readonly Member[]): Reply {
  const rows = members.map((member) => columns.map((column) => toCell(member[column])))
  const body = [columns, ...rows].map((row) => `${row.map(quote).join(',')}\r\n`).join('')
  return new Reply(
    200,
    {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="community-members.csv"',
    },
    byteOrderMark + body,
  )
}

const byteOrderMark = '\ufeff'

/**
 * Quotes a cell if need be. Spreadsheets begin a new row after either CR or LF, and in many countries a new
 * cell after a semicolon or tab.
 */
const quote = (cell: string): string => (/[",;\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)

function toCell(value: Member[keyof Member]): string {
  if (value === null) return ''
  if (value instanceof Big) return value.toFixed()
  return typeof value === 'number' ? String(value) : textCell(value)
}

/**
 * A first character that can make a spreadsheet run a text as a formula: a formula character, plain or
 * full-width, or white space, which spreadsheets skip.
 */
const startsFormula = /^[=+\-@\t\r\n＝＋－＠]/u

/**
 * A separator of cells or rows, what spreadsheets skip after it, and the formula character that follows, if
 * one does. A spreadsheet whose separator is not the comma takes quotes inside a cell for text, so they do
 * not protect what follows a separator.
 */
const separatedCell = /[;\t\r\n][\s"]*[=+\-@＝＋－＠]?/gu
const endsInFormula = /[=+\-@＝＋－＠]$/u
const separator = /\r\n|[;\t\r\n]/gu

/** Puts an apostrophe after each separator that a formula follows. */
const escapeSeparated = (text: string): string =>
  text.replaceAll(separatedCell, (cell) =>
    endsInFormula.test(cell) ? cell.replaceAll(separator, "$&'") : cell,
  )

/**
 * Escapes a text so that no spreadsheet runs it as a formula: an apostrophe is put before one, also where it
 * follows a separator inside the text. NUL is removed, because no cell can hold it and a formula could follow
 * it.
 */
export function textCell(text: string): string {
  const visible = escapeSeparated(text.replaceAll('\0', ''))
  return startsFormula.test(visible) ? `'${visible}` : visible
}

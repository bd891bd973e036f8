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
 * Quotes a cell that contains a quote or a separator. In many countries, spreadsheets expect semicolons or
 * tabs between cells. A CR or LF ends a row, even without the other.
 */
const quote = (cell: string): string => (/[",;\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)

function toCell(value: Member[keyof Member]): string {
  if (value === null) return ''
  if (value instanceof Big) return value.toFixed()
  return typeof value === 'number' ? String(value) : textCell(value)
}

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

import { stringify } from 'csv-stringify/sync'
import { Big } from '../money.ts'
import { Reply } from '../http/reply.ts'
import { Member } from './member.ts'
import { textCell } from './text-cell.ts'

const columns = Object.keys(Member.entries) as (keyof Member)[]

/** Members as a CSV download: UTF-8 with a byte order mark, a line of names first, laid out by RFC 4180. */
export function membersCsv(members: readonly Member[]): Reply {
  const rows = members.map((member) => columns.map((column) => cell(member[column])))
  const body = stringify([columns, ...rows], {
    bom: true,
    record_delimiter: 'windows',
    // The library looks for its own delimiter only; spreadsheets begin a new row after either character alone.
    quoted_match: /[\r\n]/,
  })
  return new Reply(
    200,
    {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="community-members.csv"',
    },
    body,
  )
}

function cell(value: Member[keyof Member]): string {
  if (value === null) return ''
  if (value instanceof Big) return value.toFixed()
  return typeof value === 'number' ? String(value) : textCell(value)
}

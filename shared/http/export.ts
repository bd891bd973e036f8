import * as v from 'valibot'
import { Count } from '../fields.ts'
import { settings } from '../settings.ts'
import { stringifyExact } from '../stringify-exact.ts'
import { type CsvRecord, csvTable } from './csv.ts'
import { prefers } from './prefers.ts'
import { Reply } from './reply.ts'
import type { RequestInfo } from './request.ts'

/** Schema of the answer of an export, which has the newest records that a filter selects. */
export const exportOf = <Schema extends v.GenericSchema>(record: Schema) =>
  v.object({
    /** Number of records that match the filter, including those left out of the export. */
    total: Count,
    /** Maximum number of records in an export. */
    cap: Count,
    /** Whether matching records were left out of the export. */
    truncated: v.boolean(),
    records: v.array(record),
  })

/** The newest records that a filter selects, at most `exportCap`, and how many it selects. */
export interface Found<T> {
  total: number
  records: T[]
}

/**
 * Answers an export as JSON, or as a CSV attachment if the request prefers `text/csv`. Leaves out the oldest
 * records if not all fit into an answer. `columns` are the columns of the CSV.
 */
export function answerExport<Column extends string, T extends CsvRecord<Column>>(
  { total, records: found }: Found<T>,
  request: RequestInfo,
  { fileName, columns }: { fileName: string; columns: readonly Column[] },
) {
  if (!prefers(request.header('accept'), 'text/csv')) {
    const records = found.slice(0, countFitting(found.map((record) => stringifyExact(record))))
    return { total, cap: settings().exportCap, truncated: total > records.length, records }
  }
  const { head, line } = csvTable(columns)
  const lines = found.map(line)
  const headers = {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${fileName}"`,
  }
  return new Reply(200, headers, head + lines.slice(0, countFitting(lines)).join(''))
}

/**
 * Maximum total size of exported records, in bytes. A Lambda function can return at most 6 MB (AWS: Lambda
 * quotas), of which headers and envelope get 64 KB.
 */
const maxExportBytes = 6 * 1024 * 1024 - 64 * 1024

/**
 * Counts how many of the texts fit into a response. Lambda encodes the body again, as a JSON string, so each
 * text is measured in this longer form, of which the quotes stand for the comma between records.
 */
function countFitting(texts: readonly string[]): number {
  let bytes = 0
  const firstTooMany = texts.findIndex((text) => {
    bytes += Buffer.byteLength(JSON.stringify(text))
    return bytes > maxExportBytes
  })
  return firstTooMany === -1 ? texts.length : firstTooMany
}

import { expect, it } from 'vitest'
import { answerExport } from '../../../shared/http/export.ts'
import { send, succeed, Reply } from '../../../shared/http/reply.ts'
import type { RequestInfo } from '../../../shared/http/request.ts'

const csv = { fileName: 'records.csv', columns: ['id', 'remark'] as const }
const asking = (accept: string) => ({ header: () => accept }) as unknown as RequestInfo
const toRecords = (count: number, remark: string) =>
  Array.from({ length: count }, (_, i) => ({ id: String(count - i), remark }))

/** The size in bytes of an answer as Lambda returns it, and the number of records in it. */
function measure(found: { total: number; records: { id: string; remark: string }[] }, accept: string) {
  const answer = answerExport(found, asking(accept), csv)
  const isCsv = answer instanceof Reply
  const sent = isCsv ? send(answer) : succeed(answer, 'envelope')
  const records = isCsv ? answer.body.split('\r\n').length - 2 : answer.records.length
  return {
    bytes: Buffer.byteLength(JSON.stringify(sent)),
    records,
    truncated: isCsv ? records < found.records.length : answer.truncated,
  }
}

it.each(['application/json', 'text/csv'])(
  'an export as %s is cut to the 6 MB that Lambda returns, and no earlier than that',
  (accept) => {
    for (const remark of ['"'.repeat(500), ';='.repeat(250), '𝒜'.repeat(500), 'r'.repeat(500)]) {
      const { bytes, records, truncated } = measure(
        { total: 10_000, records: toRecords(10_000, remark) },
        accept,
      )
      expect(bytes).toBeLessThanOrEqual(6 * 1024 * 1024)
      const isCut = records < 10_000
      expect(truncated).toBe(isCut)
      if (isCut) expect(bytes).toBeGreaterThan(5.7 * 1024 * 1024)
    }
  },
)

it('an export tells how many records there are, and whether some were left out', () => {
  const records = toRecords(3, 'r')
  const answer = (total: number) => answerExport({ total, records }, asking('*/*'), csv)
  expect(answer(3)).toEqual({ total: 3, cap: 10_000, truncated: false, records })
  expect(answer(4)).toEqual({ total: 4, cap: 10_000, truncated: true, records })
})

it('an export as CSV is an attachment with a name, a header line and the given columns', () => {
  const answer = answerExport({ total: 2, records: toRecords(2, 'a, b') }, asking('text/csv'), csv)
  expect(answer).toEqual(
    new Reply(
      200,
      {
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': 'attachment; filename="records.csv"',
      },
      '\ufeffid,remark\r\n2,"a, b"\r\n1,"a, b"\r\n',
    ),
  )
})

import * as v from 'valibot'
import { Count } from './fields.ts'

const wholeNumber = (maximum: number) =>
  v.pipe(
    v.string(),
    v.metadata({ type: 'integer', minimum: 1, maximum }),
    v.check((text) => /^(0|[1-9]\d{0,9})$/.test(text), 'must be a whole number'),
    v.transform(Number),
    v.minValue(1, 'must be at least 1'),
    v.maxValue(maximum, `must be at most ${maximum}`),
  )

/** The query parameters of every paginated list, to be spread into the schema of a query. */
export const pageQuery = {
  /** Number of the requested page, from 1. */
  current: wholeNumber(2_147_483_647),
  /** Maximum number of records on a page. */
  size: wholeNumber(20),
}

/** The requested page: its number, from 1, and the maximum number of records on it. */
export interface PageRequest {
  current: number
  size: number
}

/** Schema of an answer with one page of records. */
export const pageOf = <Schema extends v.GenericSchema>(record: Schema) =>
  v.object({ records: v.array(record), total: Count, size: Count, current: Count, pages: Count })

/** Builds the answer with one page of records; `total` counts the records of all pages. */
export const toPage = <T>(records: T[], total: number, { current, size }: PageRequest) => ({
  records,
  total,
  size,
  current,
  pages: Math.ceil(total / size),
})

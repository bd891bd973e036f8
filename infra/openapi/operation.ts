import type { FailureName } from '../../shared/errors.ts'
import { type CsvRecord, csvTable } from '../../shared/http/csv.ts'
import type { JsonSchema } from './schemas.ts'

/** The parts of an endpoint's description that its route and schemas do not contain. */
export interface Operation {
  summary: string
  /** Description of the endpoint for client developers, one paragraph of Markdown. */
  description: string
  /** Failures specific to the endpoint. Those implied by its scope, parameters and body are added by code. */
  failures?: FailureName[]
  /**
   * JSON Schema of checks that the endpoint makes in code. A property with a `type` replaces its generated
   * schema. A property without a `type` adds its keywords to the generated schema.
   */
  checks?: { required: string[]; properties: Record<string, JsonSchema> } & JsonSchema
  /** Schema name of the answer's `data`, or of the items if `data` is a list; undefined if `data` is null. */
  data?: string
  /** Example of the `data` in a successful answer. */
  example?: unknown
  /** Example of a successful answer in CSV, if the endpoint can answer in CSV. */
  csv?: string
  /** Name of the schema of the request body. */
  form?: string
  request?: unknown
  /** OpenAPI responses for the successful answers that have no `code`, `msg` and `data`, keyed by status. */
  replies?: Record<number, JsonSchema>
}

/** How a client asks an export for CSV, and what it gets: the end of a sentence, and more, in Markdown. */
export const asCsv =
  'with `Accept: text/csv` as a CSV attachment (RFC 4180, UTF-8 with a byte order mark). There, a column `…_iso` beside each instant has it in ISO 8601, in the reporting time zone. No cell is a formula to a spreadsheet. If not all records fit into 6 MB, the oldest are left out.'

/** The example of an export in CSV that has one record, without the byte order mark. */
export function csvExample(record: CsvRecord): string {
  const { head, line } = csvTable(Object.keys(record))
  return head.slice(1) + line(record)
}

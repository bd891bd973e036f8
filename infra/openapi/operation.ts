import type { FailureName } from '../../shared/errors.ts'
import type { JsonSchema } from './schemas.ts'

/** The parts of an endpoint's description that its route and schemas do not contain. */
export interface Operation {
  /** Summary of the endpoint in one line. */
  summary: string
  /** Description of the endpoint for client developers, one paragraph of Markdown. */
  description: string
  /** Failures specific to the endpoint. Failures implied by its scope, parameters and body are added. */
  failures: FailureName[]
  /**
   * The endpoint's checks of its parsed parameters or body, as JSON Schema: the required properties, and
   * further keywords of each property.
   */
  checks?: { required: string[]; properties: Record<string, JsonSchema> }
  /** Example of the `data` in a successful answer. */
  example: unknown
  /** Example of the request body. */
  request?: unknown
  /** Successful answers without the JSON envelope, keyed by status; `headers` maps names to descriptions. */
  replies?: Record<number, { description: string; headers?: Record<string, string> }>
}

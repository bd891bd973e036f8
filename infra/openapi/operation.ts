import type { FailureName } from '../../shared/errors.ts'
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

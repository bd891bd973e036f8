import type { FailureName } from '../../shared/errors.ts'
import type { JsonSchema } from './schemas.ts'

/** The parts of an endpoint's description that its route and schemas do not contain. */
export interface Operation {
  summary: string
  /** Description of the endpoint for client developers, one paragraph of Markdown. */
  description: string
  /** Failures specific to the endpoint. Failures implied by its scope, parameters and body are added. */
  failures?: FailureName[]
  /**
   * What the endpoint checks in its parameters or body, as JSON Schema: required properties, conditions and
   * keywords. Keywords with a `type` replace the schema of a property; others are added to the schema.
   */
  checks?: { required: string[]; properties: Record<string, JsonSchema> } & JsonSchema
  /** Name of the schema of the answer's `data` (of a list: of its items); undefined if `data` is null. */
  data?: string
  /** Example of the `data` in a successful answer. */
  example?: unknown
  /** Example of a successful answer as CSV, for an endpoint that also answers in CSV. */
  csv?: string
  /** Name of the schema of the request body. */
  form?: string
  request?: unknown
  /** Successful answers without the JSON envelope, keyed by status, as in an OpenAPI document. */
  replies?: Record<number, JsonSchema>
}

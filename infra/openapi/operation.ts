import type { FailureName } from '../../shared/errors.ts'

/** What the API reference says of an endpoint beyond what its schemas and its route already say. */
export interface Operation {
  /** One line. */
  summary: string
  /** A paragraph in Markdown for a client's developer. */
  description: string
  /** Failures of its own; those that follow from its scope, its parameters and its body are added. */
  failures: FailureName[]
  /** `data` of a success, as it might look. */
  example: unknown
  /** Example request body, for endpoints that read one. */
  request?: unknown
  /** Successes that are no envelope: status and what it says. */
  replies?: Record<number, { description: string; headers?: Record<string, string>; content?: string }>
}

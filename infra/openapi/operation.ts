import type { FailureName } from '../../shared/errors.ts'

/** The parts of an endpoint's description that its route and schemas do not contain. */
export interface Operation {
  /** One line. */
  summary: string
  /** One paragraph of Markdown, for developers of clients. */
  description: string
  /** The endpoint's own failures. Those that follow from its scope, parameters and body are added. */
  failures: FailureName[]
  /** Example of the `data` of a success. */
  example: unknown
  /** Example of the request body. */
  request?: unknown
  /** Successful answers without an envelope, by status; `headers` are descriptions by name. */
  replies?: Record<number, { description: string; headers?: Record<string, string> }>
}

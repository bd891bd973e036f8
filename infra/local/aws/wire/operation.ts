import * as v from 'valibot'
import type { Authorize } from '../iam/authorize.ts'
import { AwsError } from './aws-error.ts'

/** What an operation knows about the request besides its input. */
export interface Call {
  authorize: Authorize
  /** Ends when the client has gone away: what waits (long polling) should stop. */
  signal: AbortSignal
}

/** One operation of a JSON protocol: the parsed body in, what will be the response's body out. */
export type Operation = (input: unknown, call: Call) => unknown

/** An operation whose input is checked against `schema`, with AWS's own ValidationException if it does not fit. */
export function operation<const Schema extends v.GenericSchema>(
  schema: Schema,
  run: (input: v.InferOutput<Schema>, call: Call) => unknown,
): Operation {
  return (input, call) => {
    const parsed = v.safeParse(schema, input, { abortEarly: true })
    if (!parsed.success) {
      const path = v.getDotPath(parsed.issues[0]) ?? 'input'
      throw new AwsError(
        'ValidationException',
        `1 validation error detected: Value at '${path}' failed to satisfy constraint`,
      )
    }
    return run(parsed.output, call)
  }
}

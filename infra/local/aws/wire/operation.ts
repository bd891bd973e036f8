import * as v from 'valibot'
import type { AccessRequest } from '../iam/authorize.ts'
import type { Caller } from '../iam/callers.ts'
import { AwsError, jsonAnswer, parseJson, type Answer, type AwsRequest } from './http-messages.ts'

/** What an operation knows about a request besides its input. */
export interface Call {
  caller: Caller
  /** Aborts when the client disconnects: long polling stops then. */
  signal: AbortSignal
}

/** An operation together with its input, which has been checked. */
export interface PreparedOperation<Output = unknown> {
  /** Everything that IAM must allow before the operation runs. */
  access: () => AccessRequest[]
  run: (call: Call) => Output | Promise<Output>
}

/** An operation: takes the parsed body and throws ValidationException if that does not fit. */
export type Operation = (input: unknown) => PreparedOperation

/** A service: finds the operation that a request asks for; undefined for a request to another service. */
export type Service = (request: AwsRequest) => PreparedOperation<Answer> | undefined

/** Makes an operation of the shape of its input, of what IAM must allow, and of the work itself. */
export function defineOperation<const Schema extends v.GenericSchema>(
  schema: Schema,
  access: (input: v.InferOutput<Schema>) => AccessRequest | AccessRequest[],
  run: (input: v.InferOutput<Schema>, call: Call) => unknown,
): Operation {
  return (input) => {
    const parsed = v.safeParse(schema, input, { abortEarly: true })
    if (parsed.success)
      return { access: () => [access(parsed.output)].flat(), run: (call) => run(parsed.output, call) }
    const path = v.getDotPath(parsed.issues[0]) ?? 'input'
    const message = `1 validation error detected: Value at '${path}' failed to satisfy constraint`
    throw new AwsError('ValidationException', message)
  }
}

/** A service of a JSON protocol. `target` and an operation's name are the parts of X-Amz-Target. */
export function jsonService(
  target: string,
  contentType: string,
  operations: Record<string, Operation>,
): Service {
  return (request) => {
    const name = request.target.operation
    if (request.target.service !== target || !Object.hasOwn(operations, name)) return undefined
    const prepared = operations[name]?.(parseJson(request.body))
    return prepared && { ...prepared, run: async (call) => jsonAnswer(contentType, await prepared.run(call)) }
  }
}

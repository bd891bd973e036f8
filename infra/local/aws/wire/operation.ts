import * as v from 'valibot'
import type { AccessRequest } from '../iam/authorize.ts'
import type { Caller } from '../iam/callers.ts'
import { AwsError, jsonAnswer, parseJson, type Answer, type AwsRequest } from './http-messages.ts'

/** The context of an AWS request, in addition to its input. */
export interface Call {
  caller: Caller
  /** Aborts when the client disconnects, so that a long poll ends. */
  signal: AbortSignal
}

/** An AWS operation with its validated input, ready to be authorized and run. */
export interface PreparedOperation<Output = unknown> {
  /** Lists everything that IAM must allow before the operation runs. */
  access: () => AccessRequest[]
  run: (call: Call) => Output | Promise<Output>
}

/** Prepares an AWS operation to run with an input. Throws ValidationException if the input is invalid. */
export type Operation = (input: unknown) => PreparedOperation

/** Finds the operation that a request names; undefined if this AWS service has no such operation. */
export type Service = (request: AwsRequest) => PreparedOperation<Answer> | undefined

/** Defines an AWS operation: the schema of its input, the access that IAM must allow, and how to run it. */
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

/** Creates an AWS service with a JSON protocol. `target` is the service's name in X-Amz-Target. */
export function jsonService(
  target: string,
  contentType: string,
  operations: Record<string, Operation>,
): Service {
  return (request) => {
    const name = request.target.operation
    if (request.target.service !== target || !Object.hasOwn(operations, name)) return undefined
    const prepared = operations[name]?.(parseJson(request.body))
    return prepared && answerIn(contentType, prepared)
  }
}

/** Creates an AWS service with a REST protocol. `parameter` is the first group of the pattern `path`. */
export function restService(
  operations: [method: string, path: RegExp, operation: (parameter: string) => Operation][],
): Service {
  return ({ method, path, body }) => {
    for (const [wanted, pattern, operation] of operations) {
      const match = method === wanted ? pattern.exec(decodeURIComponent(path)) : null
      if (match !== null) return answerIn('application/json', operation(match[1] ?? '')(parseJson(body)))
    }
    return undefined
  }
}

const answerIn = (contentType: string, { access, run }: PreparedOperation): PreparedOperation<Answer> => ({
  access,
  run: async (call) => jsonAnswer(contentType, await run(call)),
})

import type { StackModel } from '../../model.ts'
import type { InvokeFunction } from '../../runtime/runtime.ts'
import { AwsError, parseJson, type Answer, type AwsRequest } from '../wire/http-messages.ts'
import type { Service } from '../wire/operation.ts'

/**
 * Runs a Lambda function asynchronously, and reports a failure. Does not retry, because the template turns
 * off retries for scheduled functions.
 */
export async function invokeLater(
  invoke: InvokeFunction,
  name: string,
  payload: string,
  report: (problem: string) => void,
): Promise<void> {
  const problem = await invoke(name, payload).then(({ functionError }) => functionError, String)
  if (problem !== undefined) report(`${name} failed asynchronously: ${problem}`)
}

const maxPayloadBytes = { RequestResponse: 6_291_556, Event: 1_048_576 }

/** The Lambda operation Invoke, in Lambda's REST protocol. */
export function lambdaService(
  model: StackModel,
  invoke: InvokeFunction,
  report: (problem: string) => void,
): Service {
  return (request) => {
    const { method, path } = request
    const reference = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/.exec(path)?.[1]
    if (method !== 'POST' || reference === undefined) return undefined
    const name = readName(decodeURIComponent(reference))
    const arn = `arn:aws:lambda:${model.region}:${model.accountId}:function:${name}`
    const context = { 'lambda:FunctionArn': arn }
    return {
      access: () => [{ action: 'lambda:InvokeFunction', resource: arn, context }],
      run: () => {
        if (model.functions.some((item) => item.name === name))
          return invokeFunction(name, invoke, request, report)
        throw new AwsError('ResourceNotFoundException', `Function not found: ${arn}`, { status: 404 })
      },
    }
  }
}

/** Reads a function's name from a name, ARN or `ACCOUNT:function:NAME`, with or without version or alias. */
function readName(reference: string): string {
  const form = /^(?:(?:arn:aws:lambda:[\w-]+:)?\d{12}:function:|function:)?([\w-]+)(?::[\w$-]+)?$/
  return form.exec(reference)?.[1] ?? reference
}

async function invokeFunction(
  name: string,
  invoke: InvokeFunction,
  { headers, body }: AwsRequest,
  report: (problem: string) => void,
): Promise<Answer> {
  const type = headers['x-amz-invocation-type'] ?? 'RequestResponse'
  if (type !== 'RequestResponse' && type !== 'Event')
    throw new AwsError('InvalidParameterValueException', 'The invocation type is not known.')
  const payload = body.length === 0 ? Buffer.from('{}') : body
  if (payload.length > maxPayloadBytes[type]) {
    const message = `Request must be smaller than ${maxPayloadBytes[type]} bytes.`
    throw new AwsError('RequestTooLargeException', message, { status: 413 })
  }
  parseJson(payload, 'InvalidRequestContentException')
  if (type === 'Event') {
    void invokeLater(invoke, name, payload.toString(), report)
    return { status: 202, headers: {}, body: '' }
  }
  const { functionError, payload: result } = await invoke(name, payload.toString())
  return {
    status: 200,
    headers: {
      'content-type': 'application/json',
      'x-amz-executed-version': '$LATEST',
      ...(functionError && { 'x-amz-function-error': functionError }),
    },
    body: result,
  }
}

import type { ServerResponse } from 'node:http'
import type { FunctionModel, StackModel } from '../../model.ts'
import { AwsError } from '../wire/aws-error.ts'
import type { Call } from '../wire/operation.ts'
import { respondJson } from '../wire/respond.ts'
import type { Invoke } from './invoke.ts'

/** A request of Lambda's REST protocol. */
export interface LambdaRequest {
  method: string
  /** Behind `/2015-03-31/functions`, still percent-encoded. */
  path: string
  headers: NodeJS.Dict<string | string[]>
  body: Buffer
}

const maximumPayloadBytes = { RequestResponse: 6_291_556, Event: 1_048_576, DryRun: 6_291_556 }

/** Answers Invoke, GetFunction and ListFunctions; false for what is none of them. */
export async function answerLambda(
  model: StackModel,
  invoke: Invoke,
  request: LambdaRequest,
  call: Call,
  response: ServerResponse,
): Promise<boolean> {
  const [, name, action] = /^\/?([^/]*)(?:\/([^/]*))?\/?$/.exec(request.path) ?? []
  if (request.method === 'GET' && name === '') {
    call.authorize({ action: 'lambda:ListFunctions', resource: '*' })
    respondJson(response, 'application/json', { Functions: model.functions.map(describeFunction) })
    return true
  }
  if (name === undefined) return false
  if (request.method !== 'POST' || action !== 'invocations') return false
  await answerInvoke(openFunction(model, call, 'lambda:InvokeFunction', name), invoke, request, response)
  return true
}

async function answerInvoke(
  target: FunctionModel,
  invoke: Invoke,
  request: LambdaRequest,
  response: ServerResponse,
): Promise<void> {
  const type = request.headers['x-amz-invocation-type'] ?? 'RequestResponse'
  if (type !== 'RequestResponse' && type !== 'Event' && type !== 'DryRun')
    throw new AwsError(
      'InvalidParameterValueException',
      'The invocation type is not one of RequestResponse, Event, DryRun',
    )
  const payload = request.body.length === 0 ? Buffer.from('{}') : request.body
  checkPayload(payload, maximumPayloadBytes[type])
  if (type === 'DryRun') return void response.writeHead(204).end()

  const result = await invoke(target.name, payload, type)
  if (type === 'Event') return void response.writeHead(202, { 'content-length': 0 }).end()
  const wantsLog = request.headers['x-amz-log-type'] === 'Tail' && result.logTail !== undefined
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': result.payload.length,
    'x-amz-executed-version': result.executedVersion,
    ...(result.functionError === undefined ? {} : { 'x-amz-function-error': result.functionError }),
    ...(wantsLog
      ? {
          'x-amz-log-result': Buffer.from(result.logTail ?? '')
            .subarray(-4096)
            .toString('base64'),
        }
      : {}),
  })
  response.end(result.payload)
}

function checkPayload(payload: Buffer, maximumBytes: number): void {
  if (payload.length > maximumBytes)
    throw new AwsError(
      'RequestTooLargeException',
      `Request must be smaller than ${maximumBytes} bytes for the InvokeFunction operation`,
      { status: 413 },
    )
  try {
    JSON.parse(payload.toString())
  } catch {
    // The parser's own words would quote the payload.
    throw new AwsError('InvalidRequestContentException', 'Could not parse request body into json')
  }
}

/** Finds a function by name, ARN or `ACCOUNT:function:NAME`, with or without a qualifier. */
function openFunction(model: StackModel, call: Call, action: string, reference: string): FunctionModel {
  const text = decodeURIComponent(reference)
  const name = /^(?:(?:arn:aws:lambda:[\w-]+:)?\d{12}:function:|function:)?([\w-]+)(?::[\w$-]+)?$/.exec(
    text,
  )?.[1]
  const arn = `arn:aws:lambda:${model.region}:${model.accountId}:function:${name ?? text}`
  call.authorize({ action, resource: arn, context: { 'lambda:FunctionArn': arn } })
  const found = model.functions.find((candidate) => candidate.name === name)
  if (found !== undefined) return found
  throw new AwsError('ResourceNotFoundException', `Function not found: ${arn}`, { status: 404 })
}

function describeFunction(model: FunctionModel): Record<string, unknown> {
  return {
    FunctionName: model.name,
    FunctionArn: model.arn,
    Runtime: 'nodejs24.x',
    Role: model.roleArn,
    Handler: model.handler,
    Timeout: model.timeoutSeconds,
    MemorySize: model.memoryMegabytes,
    Version: '$LATEST',
    State: 'Active',
    PackageType: 'Zip',
  }
}

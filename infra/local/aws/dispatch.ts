import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Quirks } from '../quirks.ts'
import type { AccessRequest } from './iam/authorize.ts'
import type { Caller, Callers } from './iam/callers.ts'
import { throttle } from './throttle.ts'
import { AwsError, errorAnswer, readRequest, sendAnswer } from './wire/http-messages.ts'
import type { Answer, AwsRequest } from './wire/http-messages.ts'
import type { PreparedOperation, Service } from './wire/operation.ts'

/** What the AWS endpoint needs to answer requests. */
export interface DispatchOptions {
  callers: Callers
  services: Service[]
  quirks: Quirks
  /** Called with all accesses that a request needs, before IAM decides on them. */
  onAccess?: ((caller: Caller, accesses: AccessRequest[]) => void) | undefined
  report: (problem: string) => void
}

/** Responds to an AWS request: finds the operation, authorizes the caller, and runs the operation. */
export async function dispatch(
  options: DispatchOptions,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const disconnected = new AbortController()
  response.once('close', () => disconnected.abort())
  try {
    const request = await readRequest(message)
    const caller = options.callers.identify(request.headers.authorization)
    // Rejects unsigned requests. Any web page in the developer's browser can send requests here, but not with
    // an authorization header.
    if (caller === undefined)
      throw new AwsError('MissingAuthenticationTokenException', 'The request is unsigned.', { status: 403 })
    const answer = await answerCall(options, request, caller, disconnected.signal)
    if (!response.destroyed) sendAnswer(response, answer)
  } catch (error) {
    if (response.headersSent || response.destroyed) return void response.destroy()
    sendAnswer(response, describeFailure(options, message, error))
  }
}

async function answerCall(
  { services, quirks, onAccess }: DispatchOptions,
  request: AwsRequest,
  caller: Caller,
  signal: AbortSignal,
): Promise<Answer> {
  const { access, run } = findOperation(services, request)
  const accesses = access()
  onAccess?.(caller, accesses)
  for (const each of accesses) {
    const denial = caller.findDenial(each)
    if (denial !== undefined) throw new AwsError('AccessDeniedException', denial)
  }
  throttle(quirks, caller, request)
  return run({ caller, signal })
}

function findOperation(services: Service[], request: AwsRequest): PreparedOperation<Answer> {
  for (const find of services) {
    const operation = find(request)
    if (operation !== undefined) return operation
  }
  const { service, operation } = request.target
  const name = service === '' ? `${request.method} ${request.path}` : `${service}.${operation}`
  throw new AwsError('UnknownOperationException', `The local AWS endpoint does not answer ${name}.`)
}

function describeFailure({ report }: DispatchOptions, message: IncomingMessage, error: unknown): Answer {
  const contentType = message.headers['content-type'] ?? 'application/json'
  const target = String(message.headers['x-amz-target'] ?? '')
  const url = message.url ?? '/'
  if (error instanceof AwsError) return errorAnswer(contentType, spellError(target, url, error))
  const cause = error instanceof Error ? (error.stack ?? error.message) : 'unknown'
  report(`${target === '' ? url : target} failed: ${cause}`)
  const failure = new AwsError('InternalFailure', 'The local endpoint failed.', { status: 500 })
  return errorAnswer(contentType, failure)
}

// Gives an error the form that its service uses. SQS and the REST services deny access with status 403, other
// services with 400. SQS has its own codes for denied access and for invalid parameters.
function spellError(target: string, url: string, error: AwsError): AwsError {
  const { code, message } = error
  const isSqs = target.startsWith('AmazonSQS.')
  if (isSqs && code === 'ValidationException')
    return new AwsError('InvalidParameterValue', message, { queryCode: 'InvalidParameterValue' })
  if (code !== 'AccessDeniedException' || (!isSqs && (target !== '' || url === '/'))) return error
  return new AwsError(code, message, { status: 403, ...(isSqs && { queryCode: 'AccessDenied' }) })
}

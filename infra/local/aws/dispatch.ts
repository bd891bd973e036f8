import type { IncomingMessage, ServerResponse } from 'node:http'
import type { StackModel } from '../model.ts'
import { answerDynamodb } from './dynamodb/answer.ts'
import type { DynamodbProxy } from './dynamodb/proxy.ts'
import type { Caller, Callers } from './iam/callers.ts'
import type { Invoke } from './lambda/invoke.ts'
import { answerLambda } from './lambda/operations.ts'
import type { Outbox } from './ses/outbox.ts'
import { sendEmail } from './ses/send-email.ts'
import { assumeRole } from './sts/assume-role.ts'
import { describeCallerIdentity } from './sts/get-caller-identity.ts'
import { AwsError } from './wire/aws-error.ts'
import type { Call, Operation } from './wire/operation.ts'
import { readBody } from './wire/read-body.ts'
import { respondError, respondJson } from './wire/respond.ts'

/** Everything that requests are answered with. */
export interface Services {
  model: StackModel
  /** By the first part of X-Amz-Target: the operations by the second, and the protocol's media type. */
  targets: Record<string, { operations: Record<string, Operation>; contentType: string }>
  proxy: DynamodbProxy
  outbox: Outbox
  invoke: Invoke
  callers: Callers
  report: (problem: string) => void
}

const functionsPath = '/2015-03-31/functions'

/** Answers one request of whichever service it is for. */
export async function dispatch(
  services: Services,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [target = '', operation = ''] = String(request.headers['x-amz-target'] ?? '').split('.')
  const contentType =
    services.targets[target]?.contentType ?? request.headers['content-type'] ?? 'application/json'
  try {
    await route(services, request, response, target, operation)
  } catch (error) {
    if (response.headersSent || response.destroyed) return void response.destroy()
    if (error instanceof AwsError)
      return respondError(response, contentType, spellFor(target, request, error))
    services.report(
      `${target}.${operation} failed: ${error instanceof Error ? (error.stack ?? error.message) : 'unknown'}`,
    )
    respondError(
      response,
      contentType,
      new AwsError('InternalFailure', 'The local endpoint failed.', { status: 500 }),
    )
  }
}

async function route(
  services: Services,
  request: IncomingMessage,
  response: ServerResponse,
  target: string,
  operationName: string,
): Promise<void> {
  const body = await readBody(request)
  const caller = identify(services, request)
  const call: Call = { authorize: caller.authorize, signal: abortWithClient(response) }
  const path = (request.url ?? '/').split('?', 1)[0] ?? '/'

  if (target.startsWith('DynamoDB'))
    return answerDynamodb(services.model, services.proxy, operationName, request, body, call, response)
  const service = services.targets[target]
  if (service !== undefined) {
    const operation = service.operations[operationName]
    if (operation === undefined) throw unknownOperation(`${target}.${operationName}`)
    return respondJson(response, service.contentType, await operation(parseBody(body), call))
  }
  if (request.method === 'POST' && path === '/v2/email/outbound-emails')
    return respondJson(response, 'application/json', sendEmail(services.model, services.outbox, body, call))
  if (path.startsWith(functionsPath)) {
    const lambda = {
      method: request.method ?? '',
      path: path.slice(functionsPath.length),
      headers: request.headers,
      body,
    }
    if (await answerLambda(services.model, services.invoke, lambda, call, response)) return
  }
  const text = answerSts(services, caller, new URLSearchParams(body.toString()), call)
  if (text !== undefined) return void response.writeHead(200, { 'content-type': 'text/xml' }).end(text)
  throw unknownOperation(target === '' ? `${request.method ?? ''} ${path}` : `${target}.${operationName}`)
}

function answerSts(
  { model, callers }: Services,
  caller: Caller,
  query: URLSearchParams,
  call: Call,
): string | undefined {
  const action = query.get('Action')
  if (action === 'GetCallerIdentity') return describeCallerIdentity({ ...caller, accountId: model.accountId })
  return action === 'AssumeRole' ? assumeRole(model.roles, callers, query, call) : undefined
}

function identify(services: Services, request: IncomingMessage): Caller {
  const caller = services.callers.identify(request.headers.authorization)
  if (caller !== undefined) return caller
  // A web page in the developer's browser can send a request here, but not with this header.
  throw new AwsError('MissingAuthenticationTokenException', 'Missing Authentication Token', { status: 403 })
}

function abortWithClient(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  return gone.signal
}

function parseBody(body: Buffer): unknown {
  try {
    return body.length === 0 ? {} : JSON.parse(body.toString())
  } catch {
    // The parser's own words would quote the body.
    throw new AwsError('SerializationException', 'The request body is not JSON.')
  }
}

function unknownOperation(name: string): AwsError {
  return new AwsError('UnknownOperationException', `The local AWS endpoint does not answer ${name}.`)
}

/**
 * AccessDenied travels with HTTP 403 in SQS and in the REST protocols, and SQS has an older name for it; SQS also has a name
 * of its own for what the others call ValidationException.
 */
function spellFor(target: string, request: IncomingMessage, error: AwsError): AwsError {
  if (target === 'AmazonSQS' && error.code === 'ValidationException')
    return new AwsError('InvalidParameterValue', error.message, { queryCode: 'InvalidParameterValue' })
  if (error.code !== 'AccessDeniedException') return error
  if (target === 'AmazonSQS')
    return new AwsError(error.code, error.message, { status: 403, queryCode: 'AccessDenied' })
  return target === '' && request.url !== '/'
    ? new AwsError(error.code, error.message, { status: 403 })
    : error
}

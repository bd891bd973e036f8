import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RequestHandler } from '../http/bind-server.ts'
import { type InvokeFunction, TooManyRequestsError } from '../invocation.ts'
import type { CorsModel, RouteModel } from '../model.ts'
import { answerPreflight, applyCors, isPreflight } from './cors.ts'
import { createRouteMatcher } from './match-route.ts'
import { readBody } from './read-body.ts'
import { createThrottle } from './throttle.ts'
import { createRequestId, type GatewayIdentity, toEvent } from './to-event.ts'
import { gatewayMessage, type GatewayResponse, toResponse } from './to-response.ts'

export interface GatewayOptions {
  routes: RouteModel[]
  cors: CorsModel | undefined
  invoke: InvokeFunction
  identity: GatewayIdentity
  /** How long a function may take before the client gets 503; API Gateway's own 30 s unless told. */
  integrationTimeoutMilliseconds?: number
}

/** API Gateway's limit of a request body. */
const bodyLimitBytes = 10 * 1024 * 1024
/** Lambda's limit of an invocation's payload. */
const payloadLimitBytes = 6 * 1024 * 1024

/** An HTTP API with Lambda proxy integrations of payload format 2.0, as API Gateway serves it. */
export function createGateway(options: GatewayOptions): RequestHandler {
  const { cors, invoke, identity, integrationTimeoutMilliseconds = 30_000 } = options
  const matchRoute = createRouteMatcher(options.routes)
  const passesThrottle = createThrottle()

  const answer = async (message: IncomingMessage, requestId: string): Promise<GatewayResponse> => {
    const { method = 'GET', headers } = message
    const { encodedPath, rawQueryString } = splitTarget(message.url ?? '/')
    if (cors !== undefined && isPreflight(method, headers)) return answerPreflight(cors, headers.origin ?? '')
    const match = matchRoute(method, encodedPath)
    if (match === undefined) return gatewayMessage(404, 'Not Found')
    if (!passesThrottle(match.route)) return gatewayMessage(429, 'Too Many Requests')
    const body = await readBody(message, bodyLimitBytes)
    if (body === undefined) return gatewayMessage(413, 'Request Entity Too Large')
    const request = { message, requestId, method, encodedPath, rawQueryString, body }
    const payload = JSON.stringify(toEvent(request, match, identity))
    if (payload.length > payloadLimitBytes) return gatewayMessage(413, 'Request Entity Too Large')
    return runIntegration(
      () => invoke(match.route.functionLogicalId, payload),
      integrationTimeoutMilliseconds,
    )
  }

  return async (message, response) => {
    const requestId = createRequestId()
    const { origin } = message.headers
    const answered = await answer(message, requestId)
    const preflight = cors !== undefined && isPreflight(message.method ?? '', message.headers)
    const complete = cors === undefined || preflight ? answered : applyCors(cors, origin, answered)
    send(message, response, requestId, complete)
  }
}

async function runIntegration(
  invoke: () => ReturnType<InvokeFunction>,
  timeout: number,
): Promise<GatewayResponse> {
  const { promise: expired, resolve } = Promise.withResolvers<'expired'>()
  const limit = setTimeout(() => resolve('expired'), timeout)
  try {
    const result = await Promise.race([invoke(), expired])
    if (result === 'expired') return gatewayMessage(503, 'Service Unavailable')
    if (result.functionError !== undefined) return gatewayMessage(500, 'Internal Server Error')
    return toResponse(result.payload)
  } catch (error) {
    if (error instanceof TooManyRequestsError) return gatewayMessage(503, 'Service Unavailable')
    throw error
  } finally {
    clearTimeout(limit)
  }
}

function send(
  message: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  { status, headers, cookies, body }: GatewayResponse,
): void {
  const withoutBody = status === 204 || status === 304 || status < 200
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  if (cookies.length > 0) response.setHeader('set-cookie', cookies)
  response.setHeader('apigw-requestid', requestId)
  if (!withoutBody) response.setHeader('content-length', body.length)
  else response.removeHeader('content-type')
  // What is left of a body that nobody read must not be taken for the next request.
  if (!message.complete) response.setHeader('connection', 'close')
  response.writeHead(status)
  response.end(withoutBody || message.method === 'HEAD' ? undefined : body)
}

// The target is a path, or an absolute URL when the client takes us for a proxy (RFC 9112 §3.2).
function splitTarget(target: string): { encodedPath: string; rawQueryString: string } {
  const relative = target.replace(/^https?:\/\/[^/?#]*/i, '')
  const question = relative.indexOf('?')
  const path = question === -1 ? relative : relative.slice(0, question)
  return {
    encodedPath: path.startsWith('/') ? path : `/${path}`,
    rawQueryString: question === -1 ? '' : relative.slice(question + 1),
  }
}

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RequestHandler } from '../http/bind-server.ts'
import type { RouteModel } from '../model.ts'
import { type InvokeFunction, TooManyRequestsError } from '../runtime/runtime.ts'
import { createRequestId, toEvent } from './event.ts'
import { gatewayMessage, type GatewayResponse, toResponse } from './response.ts'
import { createRouteMatcher } from './routes.ts'

export interface GatewayOptions {
  routes: RouteModel[]
  invoke: InvokeFunction
  /** Current variables of the API's stage. */
  stageVariables: Record<string, string>
  /** Maximum time for a function to answer; then the client gets a 503. Default: 30 s, as on API Gateway. */
  integrationTimeoutMilliseconds?: number
}

/** Maximum size of a request body (API Gateway quota). */
const maxBodyBytes = 10 * 1024 * 1024
/** Maximum size of an invocation's payload and of its answer (Lambda quota). */
const maxPayloadBytes = 6 * 1024 * 1024

/** Creates an HTTP API that behaves like API Gateway with Lambda proxy integrations of payload format 2.0. */
export function createGateway(options: GatewayOptions): RequestHandler {
  const { invoke, stageVariables, integrationTimeoutMilliseconds = 30_000 } = options
  const matchRoute = createRouteMatcher(options.routes)
  const takeToken = createThrottle()

  const answer = async (message: IncomingMessage, requestId: string): Promise<GatewayResponse> => {
    const { method = 'GET' } = message
    const { encodedPath, rawQueryString } = splitTarget(message.url ?? '/')
    const match = matchRoute(method, encodedPath)
    if (match === undefined) return gatewayMessage(404, 'Not Found')
    if (!takeToken(match.route)) return gatewayMessage(429, 'Too Many Requests')
    const body = await readBody(message)
    if (body === undefined) return gatewayMessage(413, 'Request Entity Too Large')
    const request = { message, requestId, method, encodedPath, rawQueryString, body }
    const payload = JSON.stringify(toEvent(request, match, stageVariables))
    if (payload.length > maxPayloadBytes) return gatewayMessage(413, 'Request Entity Too Large')
    return runIntegration(invoke(match.route.functionName, payload), integrationTimeoutMilliseconds)
  }

  return async (message, response) => {
    const requestId = createRequestId()
    send(message, response, requestId, await answer(message, requestId))
  }
}

/**
 * Creates a function that decides whether a route's throttle lets a request through. Each throttled route has
 * a token bucket: `rate` requests per second, and `burst` at once.
 */
function createThrottle(): (route: RouteModel) => boolean {
  const buckets = new Map<string, { tokens: number; at: number }>()
  return ({ routeKey, throttle }) => {
    if (throttle === undefined) return true
    const { rate, burst } = throttle
    const now = Date.now()
    const { tokens, at } = buckets.get(routeKey) ?? { tokens: burst, at: now }
    const filled = Math.min(burst, tokens + ((now - at) / 1000) * rate)
    buckets.set(routeKey, { tokens: filled >= 1 ? filled - 1 : filled, at: now })
    return filled >= 1
  }
}

/** Reads the whole request body; undefined if it exceeds API Gateway's limit. */
async function readBody(message: IncomingMessage): Promise<Buffer | undefined> {
  if (Number(message.headers['content-length'] ?? 0) > maxBodyBytes) return undefined
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of message as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > maxBodyBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

async function runIntegration(
  invoked: ReturnType<InvokeFunction>,
  timeoutMilliseconds: number,
): Promise<GatewayResponse> {
  const { promise: expired, resolve } = Promise.withResolvers<'expired'>()
  const timer = setTimeout(() => resolve('expired'), timeoutMilliseconds)
  try {
    const result = await Promise.race([invoked, expired])
    if (result === 'expired') return gatewayMessage(503, 'Service Unavailable')
    if (result.functionError !== undefined) return gatewayMessage(500, 'Internal Server Error')
    // Lambda fails an invocation whose answer is too large.
    if (Buffer.byteLength(result.payload) > maxPayloadBytes)
      return gatewayMessage(500, 'Internal Server Error')
    return toResponse(result.payload)
  } catch (error) {
    if (error instanceof TooManyRequestsError) return gatewayMessage(503, 'Service Unavailable')
    throw error
  } finally {
    clearTimeout(timer)
  }
}

function send(
  message: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  { status, headers, body }: GatewayResponse,
): void {
  const withoutBody = status === 204 || status === 304 || status < 200
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  response.setHeader('apigw-requestid', requestId)
  if (!withoutBody) response.setHeader('content-length', body.length)
  else response.removeHeader('content-type')
  // If the body was not fully read, close the connection, so that no unread part is parsed as a request.
  if (!message.complete) response.setHeader('connection', 'close')
  response.writeHead(status)
  response.end(withoutBody ? undefined : body)
}

// Splits a request target into path and query. Clients of a proxy send an absolute URL (RFC 9112 §3.2).
function splitTarget(target: string): { encodedPath: string; rawQueryString: string } {
  const [path = '', ...query] = target.replace(/^https?:\/\/[^/?#]*/i, '').split('?')
  return { encodedPath: path.startsWith('/') ? path : `/${path}`, rawQueryString: query.join('?') }
}

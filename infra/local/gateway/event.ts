import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { APIGatewayProxyEventV2 } from 'aws-lambda'
import { decodePath, type RouteMatch } from './routes.ts'

/** An HTTP request with its body, as received. */
export interface GatewayRequest {
  message: IncomingMessage
  requestId: string
  method: string
  encodedPath: string
  rawQueryString: string
  body: Buffer
}

/**
 * Headers that never reach a function: hop-by-hop headers, which concern one connection only (RFC 9110
 * §7.6.1), and cookies, which no function reads.
 */
const droppedHeaders = new Set(
  'connection cookie keep-alive proxy-connection te trailer transfer-encoding upgrade'.split(' '),
)

/** Content types of bodies that API Gateway passes on as text. It passes others, even forms, as base64. */
const textTypes = /^(text\/[^;]*|application\/(json|xml|javascript))\s*(;|$)/i

/**
 * Builds an event in payload format 2.0 (API Gateway guide, "Create AWS Lambda proxy integrations"). Leaves
 * out what functions do not read, such as parsed query parameters.
 */
export function toEvent(
  { message, requestId, method, encodedPath, rawQueryString, body }: GatewayRequest,
  { route, pathParameters }: RouteMatch,
  stageVariables: Record<string, string>,
) {
  const headers = { ...readHeaders(message.rawHeaders), 'content-length': String(body.length) }
  const path = decodePath(encodedPath)
  const isText = textTypes.test(message.headers['content-type'] ?? '')
  return {
    version: '2.0',
    routeKey: route.routeKey,
    rawPath: path,
    rawQueryString,
    headers,
    requestContext: {
      http: {
        method,
        path,
        protocol: `HTTP/${message.httpVersion}`,
        sourceIp: message.socket.remoteAddress ?? '',
        userAgent: message.headers['user-agent'] ?? '',
      },
      requestId,
      routeKey: route.routeKey,
      stage: '$default',
      timeEpoch: Date.now(),
    },
    ...(Object.keys(pathParameters).length === 0 ? {} : { pathParameters }),
    ...(Object.keys(stageVariables).length === 0 ? {} : { stageVariables }),
    ...(body.length === 0 ? {} : { body: body.toString(isText ? 'utf8' : 'base64') }),
    isBase64Encoded: body.length > 0 && !isText,
  } satisfies Omit<Partial<APIGatewayProxyEventV2>, 'requestContext'> & { requestContext: object }
}

/** Creates a random id in the format of API Gateway's request ids. */
export const createRequestId = (): string => `${randomBytes(11).toString('base64url')}=`

/** Reads the request headers by lower-case name. The values of a repeated header are joined by commas. */
function readHeaders(rawHeaders: string[]): Record<string, string> {
  const joined = new Map<string, string>()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] ?? '').toLowerCase()
    const before = joined.get(name)
    const value = rawHeaders[i + 1] ?? ''
    if (!droppedHeaders.has(name)) joined.set(name, before === undefined ? value : `${before},${value}`)
  }
  return Object.fromEntries(joined)
}

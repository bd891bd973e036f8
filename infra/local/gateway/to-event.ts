import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { APIGatewayProxyEventV2 } from 'aws-lambda'
import { decodePath, type RouteMatch } from './match-route.ts'

/** What of an API the event repeats. */
export interface GatewayIdentity {
  apiId: string
  accountId: string
  /** Host and port. */
  domainName: string
  port: number
}

/** A request as it came in over the wire, its body read. */
export interface GatewayRequest {
  message: IncomingMessage
  requestId: string
  method: string
  encodedPath: string
  rawQueryString: string
  body: Buffer
}

/** Headers that speak of one connection only, and never reach a function (RFC 9110 §7.6.1). */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * Media types whose bodies API Gateway hands over as text; every other body, one without a type and a form
 * included, arrives base64-encoded.
 */
const textTypes = /^(text\/[^;]*|application\/(json|xml|javascript))\s*(;|$)/i

/** The event of payload format 2.0 (developer guide, "Create AWS Lambda proxy integrations for HTTP APIs"). */
export function toEvent(
  { message, requestId, method, encodedPath, rawQueryString, body }: GatewayRequest,
  { route, pathParameters }: RouteMatch,
  identity: GatewayIdentity,
): APIGatewayProxyEventV2 {
  const sourceIp = message.socket.remoteAddress ?? ''
  const sent = joinHeaders(message.rawHeaders)
  const cookies = sent.cookie?.split(/;\s*/).filter((cookie) => cookie !== '')
  delete sent.cookie
  const now = new Date()
  const path = decodePath(encodedPath)
  const query = joinQuery(rawQueryString)
  const isText = textTypes.test(sent['content-type'] ?? '')
  return {
    version: '2.0',
    routeKey: route.routeKey,
    rawPath: path,
    rawQueryString,
    ...(cookies === undefined ? {} : { cookies }),
    headers: {
      ...sent,
      'content-length': String(body.length),
      'x-amzn-trace-id': sent['x-amzn-trace-id'] ?? createTraceId(now),
      'x-forwarded-for': [sent['x-forwarded-for'], sourceIp].filter(Boolean).join(', '),
      'x-forwarded-port': String(identity.port),
      'x-forwarded-proto': 'http',
    },
    ...(query === undefined ? {} : { queryStringParameters: query }),
    requestContext: {
      accountId: identity.accountId,
      apiId: identity.apiId,
      domainName: identity.domainName,
      domainPrefix: identity.apiId,
      http: {
        method,
        path,
        protocol: `HTTP/${message.httpVersion}`,
        sourceIp,
        userAgent: sent['user-agent'] ?? '',
      },
      requestId,
      routeKey: route.routeKey,
      stage: '$default',
      time: formatTime(now),
      timeEpoch: now.getTime(),
    },
    ...(Object.keys(pathParameters).length === 0 ? {} : { pathParameters }),
    ...(body.length === 0 ? {} : { body: body.toString(isText ? 'utf8' : 'base64') }),
    isBase64Encoded: body.length > 0 && !isText,
  }
}

/** An id as API Gateway draws one for each request. */
export const createRequestId = (): string => `${randomBytes(11).toString('base64url')}=`

function joinHeaders(rawHeaders: string[]): Record<string, string | undefined> {
  const joined: Record<string, string | undefined> = {}
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? ''
    const value = rawHeaders[index + 1] ?? ''
    if (hopByHop.has(name)) continue
    const before = joined[name]
    joined[name] = before === undefined ? value : `${before}${name === 'cookie' ? '; ' : ','}${value}`
  }
  return joined
}

function joinQuery(rawQueryString: string): Record<string, string> | undefined {
  if (rawQueryString === '') return undefined
  const joined: Record<string, string> = {}
  for (const [name, value] of new URLSearchParams(rawQueryString)) {
    const before = Object.hasOwn(joined, name) ? joined[name] : undefined
    joined[name] = before === undefined ? value : `${before},${value}`
  }
  return joined
}

const createTraceId = (now: Date): string =>
  `Root=1-${Math.floor(now.getTime() / 1000).toString(16)}-${randomBytes(12).toString('hex')}`

// The common log format that API Gateway uses: 12/Mar/2020:19:03:58 +0000.
function formatTime(now: Date): string {
  const [, day, month, year, time] = /^\w+, (\d+) (\w+) (\d+) ([\d:]+)/.exec(now.toUTCString()) ?? []
  return `${day ?? ''}/${month ?? ''}/${year ?? ''}:${time ?? ''} +0000`
}

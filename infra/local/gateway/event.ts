import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { APIGatewayProxyEventV2 } from 'aws-lambda'
import { decodePath, type RouteMatch } from './routes.ts'

/** Properties of the API that every gateway event contains. */
export interface GatewayIdentity {
  apiId: string
  accountId: string
  /** Host and port of the API. */
  domainName: string
  port: number
  /** Variables of the API's stage as they are now. */
  stageVariables: Record<string, string>
}

/** An HTTP request with its body, as received. */
export interface GatewayRequest {
  message: IncomingMessage
  requestId: string
  method: string
  encodedPath: string
  rawQueryString: string
  body: Buffer
}

/** Hop-by-hop headers, which concern one connection only and never reach a function (RFC 9110 §7.6.1). */
const hopByHopHeaders = new Set(
  'connection keep-alive proxy-connection te trailer transfer-encoding upgrade'.split(' '),
)

/** Content types of bodies that API Gateway passes on as text. Others, also forms, are base64-encoded. */
const textTypes = /^(text\/[^;]*|application\/(json|xml|javascript))\s*(;|$)/i

/** Builds an event in payload format 2.0 (API Gateway guide, "Create AWS Lambda proxy integrations"). */
export function toEvent(
  { message, requestId, method, encodedPath, rawQueryString, body }: GatewayRequest,
  { route, pathParameters }: RouteMatch,
  identity: GatewayIdentity,
): APIGatewayProxyEventV2 {
  const sourceIp = message.socket.remoteAddress ?? ''
  const sent = readHeaders(message.rawHeaders)
  const cookies = sent.cookie?.split(/;\s*/).filter((cookie) => cookie !== '')
  delete sent.cookie
  const now = new Date()
  const path = decodePath(encodedPath)
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
    ...(rawQueryString === '' ? {} : { queryStringParameters: readQuery(rawQueryString) }),
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
    ...(Object.keys(identity.stageVariables).length === 0 ? {} : { stageVariables: identity.stageVariables }),
    ...(body.length === 0 ? {} : { body: body.toString(isText ? 'utf8' : 'base64') }),
    isBase64Encoded: body.length > 0 && !isText,
  }
}

/** Creates a random id in the format of API Gateway's request ids. */
export const createRequestId = (): string => `${randomBytes(11).toString('base64url')}=`

/** Reads the headers that a function gets, by lower-case name. */
function readHeaders(rawHeaders: string[]): Record<string, string | undefined> {
  const pairs = rawHeaders.flatMap((name, index): [string, string][] =>
    index % 2 === 0 ? [[name.toLowerCase(), rawHeaders[index + 1] ?? '']] : [],
  )
  const kept = pairs.filter(([name]) => !hopByHopHeaders.has(name))
  return joinRepeated(kept, (name) => (name === 'cookie' ? '; ' : ','))
}

/** Joins the values of a repeated name, as payload format 2.0 does. */
function joinRepeated(
  pairs: Iterable<[name: string, value: string]>,
  separatorOf: (name: string) => string,
): Record<string, string> {
  const joined = new Map<string, string>()
  for (const [name, value] of pairs) {
    const before = joined.get(name)
    joined.set(name, before === undefined ? value : before + separatorOf(name) + value)
  }
  return Object.fromEntries(joined)
}

const readQuery = (rawQueryString: string): Record<string, string> =>
  joinRepeated(new URLSearchParams(rawQueryString), () => ',')

const createTraceId = (now: Date): string =>
  `Root=1-${Math.floor(now.getTime() / 1000).toString(16)}-${randomBytes(12).toString('hex')}`

// Formats a time as API Gateway does, in common log format: 12/Mar/2020:19:03:58 +0000.
function formatTime(now: Date): string {
  const [, day, month, year, time] = /^\w+, (\d+) (\w+) (\d+) ([\d:]+)/.exec(now.toUTCString()) ?? []
  return `${day ?? ''}/${month ?? ''}/${year ?? ''}:${time ?? ''} +0000`
}

import type { APIGatewayProxyEventV2, Context } from 'aws-lambda'
import { randomUUID } from 'node:crypto'
import type { Endpoint } from '../../shared/http/endpoint.ts'

/** The parts of a request that a test sets. */
export interface TestRequest {
  route?: string
  body?: unknown
  /** Raw request body, sent in place of `body`. */
  text?: string
  /** Whether `text` is the body in base64, as API Gateway sends binary bodies. */
  isBase64Encoded?: boolean
  headers?: Record<string, string>
  query?: string
  path?: Record<string, string>
  sourceIp?: string
  requestId?: string
  /** Time until Lambda would end the function. If absent, there is no deadline. */
  remainingMilliseconds?: number
}

/** An endpoint's answer: HTTP status, headers and body, and the code and data of the JSON envelope. */
export interface TestAnswer {
  status: number
  headers: Record<string, unknown>
  /** The body as sent, with all digits of its numbers. */
  text: string
  /** NaN if the body is no JSON. */
  code: number
  data: unknown
}

/** Loads the handler of an endpoint, for example of `account/info`. */
export async function loadEndpoint(entry: string): Promise<Endpoint> {
  const { href } = new URL(`../../functions/${entry}.ts`, import.meta.url)
  return ((await import(/* @vite-ignore */ href)) as { handler: Endpoint }).handler
}

/** Calls the handler of an endpoint in this process, with the event that API Gateway would send. */
export async function callEndpoint(handler: Endpoint, request: TestRequest): Promise<TestAnswer> {
  const { remainingMilliseconds } = request
  const context = { ...(remainingMilliseconds && { getRemainingTimeInMillis: () => remainingMilliseconds }) }
  const { statusCode = 0, headers = {}, body = '' } = await handler(toEvent(request), context as Context)
  const isJson = String(headers['content-type']).startsWith('application/json')
  const { code = Number.NaN, data } = (isJson ? JSON.parse(body) : {}) as Partial<TestAnswer>
  return { status: statusCode, headers, text: body, code, data }
}

/** Builds the event of a request as API Gateway sends it to a function, payload version 2.0. */
export function toEvent({
  route = 'POST /test',
  body,
  text,
  isBase64Encoded = false,
  headers = {},
  query = '',
  path,
  sourceIp = '192.0.2.1',
  requestId = randomUUID(),
}: TestRequest): APIGatewayProxyEventV2 {
  const [method, rawPath] = route.split(' ')
  return {
    version: '2.0',
    routeKey: route,
    rawPath,
    rawQueryString: query,
    ...(path && { pathParameters: path }),
    headers: { 'content-type': 'application/json', ...headers },
    requestContext: { requestId, http: { method, path: rawPath, sourceIp } },
    body: text ?? JSON.stringify(body),
    isBase64Encoded,
  } as unknown as APIGatewayProxyEventV2
}

/** Builds the event of a GET request. */
export const getEvent = (path: string, headers: Record<string, string> = {}): APIGatewayProxyEventV2 =>
  toEvent({ route: `GET ${path}`, headers, sourceIp: '127.0.0.1', requestId: 'request' })

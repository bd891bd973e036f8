import * as v from 'valibot'
import type { CorsModel } from '../model.ts'

/** An HTTP response of the gateway. */
export interface GatewayResponse {
  status: number
  headers: Record<string, string>
  body: Buffer
}

/** Response headers that the gateway sets itself. If a function sets them too, its values are dropped. */
const gatewayHeaders = new Set(
  'connection content-length date keep-alive transfer-encoding upgrade'.split(' '),
)

/** Creates an answer that comes from the gateway itself, in API Gateway's wording. */
export const gatewayMessage = (status: number, message: string): GatewayResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify({ message })),
})

/** Schema of a function's result in payload format 2.0. It has only the members that functions use. */
const Result = v.object({
  statusCode: v.pipe(v.number(), v.integer(), v.minValue(100), v.maxValue(599)),
  headers: v.optional(v.record(v.string(), v.union([v.string(), v.number(), v.boolean()])), {}),
  body: v.optional(v.string(), ''),
})

/** Converts a function's result to the response. An invalid result gives a 500, as on AWS. */
export function toResponse(payload: string): GatewayResponse {
  const result = v.safeParse(Result, JSON.parse(payload))
  if (!result.success) return gatewayMessage(500, 'Internal Server Error')
  const { statusCode: status, headers, body } = result.output
  return {
    status,
    headers: { 'content-type': 'text/plain;charset=UTF-8', ...selectHeaders(headers) },
    body: Buffer.from(body),
  }
}

/** Answers a CORS preflight with 204. Adds the configured headers only if the origin is allowed. */
export function answerPreflight(cors: CorsModel, origin: string): GatewayResponse {
  const headers = {
    ...originHeaders(cors, origin),
    ...listHeader('access-control-allow-methods', cors.allowMethods),
    ...listHeader('access-control-allow-headers', cors.allowHeaders),
    'access-control-max-age': String(cors.maxAgeSeconds),
  }
  return { status: 204, headers: isAllowed(cors, origin) ? headers : {}, body: Buffer.alloc(0) }
}

/** Adds the configured CORS headers. As on API Gateway, CORS headers of the function are dropped. */
export function applyCors(
  cors: CorsModel,
  origin: string | undefined,
  response: GatewayResponse,
): GatewayResponse {
  const kept = Object.entries(response.headers).filter(([name]) => !name.startsWith('access-control-'))
  const added = origin !== undefined && isAllowed(cors, origin) ? originHeaders(cors, origin) : {}
  return { ...response, headers: { ...Object.fromEntries(kept), ...added } }
}

// Whether CORS allows an origin. The configured origins are `*`, `https://*`, `http://*` or whole origins.
const isAllowed = ({ allowOrigins }: CorsModel, origin: string): boolean =>
  allowOrigins.some((allowed) =>
    allowed.endsWith('*') ? origin.startsWith(allowed.slice(0, -1)) : allowed === origin,
  )

const originHeaders = (cors: CorsModel, origin: string): Record<string, string> => ({
  'access-control-allow-origin': cors.allowOrigins.includes('*') ? '*' : origin,
  ...listHeader('access-control-expose-headers', cors.exposeHeaders),
})

const listHeader = (name: string, values: string[]): Record<string, string> =>
  values.length === 0 ? {} : { [name]: values.join(',') }

const selectHeaders = (headers: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !gatewayHeaders.has(name.toLowerCase()))
      .map(([name, value]) => [name.toLowerCase(), String(value)]),
  )

import type { CorsModel } from '../model.ts'

/** An HTTP response of the gateway. */
export interface GatewayResponse {
  status: number
  headers: Record<string, string>
  cookies: string[]
  body: Buffer
}

/** Response headers that the gateway sets itself, so a function's values are dropped. */
const gatewayHeaders = new Set(
  'connection content-length date keep-alive transfer-encoding upgrade'.split(' '),
)

/** Makes an answer of the gateway itself, with API Gateway's wording. */
export const gatewayMessage = (status: number, message: string): GatewayResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  cookies: [],
  body: Buffer.from(JSON.stringify({ message })),
})

/**
 * Converts a function's result to the response. A result without `statusCode` is itself the JSON body of a
 * 200; a result that is invalid in payload format 2.0 gives a 500, as on AWS.
 */
export function toResponse(payload: string): GatewayResponse {
  const result: unknown = JSON.parse(payload)
  if (!isObject(result) || !('statusCode' in result)) {
    const body = Buffer.from(typeof result === 'string' ? result : payload)
    return { status: 200, headers: { 'content-type': 'application/json' }, cookies: [], body }
  }
  const { statusCode, isBase64Encoded } = result
  const [status, headers, cookies, body] = [
    Number(statusCode),
    result.headers ?? {},
    result.cookies ?? [],
    result.body ?? '',
  ]
  const isStatus = Number.isInteger(status) && status >= 100 && status <= 599
  if (!isStatus || !isObject(headers) || !Array.isArray(cookies) || typeof body !== 'string')
    return gatewayMessage(500, 'Internal Server Error')
  return {
    status,
    headers: { 'content-type': 'text/plain;charset=UTF-8', ...selectHeaders(headers) },
    cookies: cookies.map(String),
    body: Buffer.from(body, isBase64Encoded === true ? 'base64' : 'utf8'),
  }
}

/** Makes the answer to a CORS preflight: 204, with the configured headers only if the origin is allowed. */
export function answerPreflight(cors: CorsModel, origin: string): GatewayResponse {
  const headers = {
    ...originHeaders(cors, origin),
    ...listHeader('access-control-allow-methods', cors.allowMethods),
    ...listHeader('access-control-allow-headers', cors.allowHeaders),
    'access-control-max-age': String(cors.maxAgeSeconds),
  }
  return {
    status: 204,
    headers: isAllowed(cors, origin) ? headers : {},
    cookies: [],
    body: Buffer.alloc(0),
  }
}

/** Adds the configured CORS headers. As on API Gateway, those from the function are dropped. */
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
  ...(cors.allowCredentials ? { 'access-control-allow-credentials': 'true' } : {}),
  ...listHeader('access-control-expose-headers', cors.exposeHeaders),
})

const listHeader = (name: string, values: string[]): Record<string, string> =>
  values.length === 0 ? {} : { [name]: values.join(',') }

const selectHeaders = (headers: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name, value]) => !gatewayHeaders.has(name.toLowerCase()) && value !== null)
      .map(([name, value]) => [name.toLowerCase(), String(value)]),
  )

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

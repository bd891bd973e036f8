import type { CorsModel } from '../model.ts'

/** What goes back over the wire. */
export interface GatewayResponse {
  status: number
  headers: Record<string, string>
  cookies: string[]
  body: Buffer
}

/** Headers that the gateway sets itself. */
const gatewayHeaders = new Set(
  'connection content-length date keep-alive transfer-encoding upgrade'.split(' '),
)

/** An answer that no function gave, worded as API Gateway words it. */
export const gatewayMessage = (status: number, message: string): GatewayResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  cookies: [],
  body: Buffer.from(JSON.stringify({ message })),
})

/**
 * The response that a function's result asks for. Without a `statusCode` the result is itself the JSON body
 * of a 200; a result that does not have the form of payload 2.0 is a 500, as on AWS.
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

/** The answer to a preflight: 204, with the configured headers only where the origin is allowed. */
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

/** The response with the configured CORS headers. API Gateway ignores those of the function. */
export function applyCors(
  cors: CorsModel,
  origin: string | undefined,
  response: GatewayResponse,
): GatewayResponse {
  const kept = Object.entries(response.headers).filter(([name]) => !name.startsWith('access-control-'))
  const added = origin !== undefined && isAllowed(cors, origin) ? originHeaders(cors, origin) : {}
  return { ...response, headers: { ...Object.fromEntries(kept), ...added } }
}

// An allowed origin is `*`, `https://*`, `http://*` or a whole origin.
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

import type { CorsModel } from '../model.ts'
import type { GatewayResponse } from './to-response.ts'

/** Whether this is a preflight that the gateway answers by itself, whatever the routes say. */
export const isPreflight = (
  method: string,
  headers: Record<string, string | string[] | undefined>,
): boolean =>
  method === 'OPTIONS' &&
  headers.origin !== undefined &&
  headers['access-control-request-method'] !== undefined

/** The answer to a preflight: 204, with the configured headers where the origin is allowed and none where it is not. */
export function answerPreflight(cors: CorsModel, origin: string): GatewayResponse {
  return {
    status: 204,
    headers: isAllowed(cors, origin)
      ? {
          ...originHeaders(cors, origin),
          ...listHeader('access-control-allow-methods', cors.allowMethods),
          ...listHeader('access-control-allow-headers', cors.allowHeaders),
          'access-control-max-age': String(cors.maxAgeSeconds),
        }
      : {},
    cookies: [],
    body: Buffer.alloc(0),
  }
}

/** The response with the configured headers in place of the function's own, which API Gateway ignores. */
export function applyCors(
  cors: CorsModel,
  origin: string | undefined,
  response: GatewayResponse,
): GatewayResponse {
  const own = Object.entries(response.headers).filter(([name]) => !name.startsWith('access-control-'))
  return {
    ...response,
    headers: {
      ...Object.fromEntries(own),
      ...(origin !== undefined && isAllowed(cors, origin) ? originHeaders(cors, origin) : {}),
    },
  }
}

// `*`, `https://*`, `http://*` or a whole origin.
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

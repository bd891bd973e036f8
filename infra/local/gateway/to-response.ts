import { isProperties } from '../template/values.ts'

/** What goes back over the wire. */
export interface GatewayResponse {
  status: number
  headers: Record<string, string>
  cookies: string[]
  body: Buffer
}

/** Headers that the gateway itself decides. */
const ownHeaders = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
])

/** An answer of the gateway's own, in the words of API Gateway. */
export const gatewayMessage = (status: number, message: string): GatewayResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  cookies: [],
  body: Buffer.from(JSON.stringify({ message })),
})

/**
 * The response that a function's result asks for: with a `statusCode` as it says, without one the whole result is
 * the JSON body of a 200. A result that is not of that form is a 500, as on AWS.
 */
export function toResponse(payload: string): GatewayResponse {
  const result: unknown = JSON.parse(payload)
  if (!isProperties(result) || !('statusCode' in result)) return inferResponse(result)
  const { statusCode, headers = {}, cookies = [], body = '', isBase64Encoded = false } = result
  const status = Number(statusCode)
  const wellFormed =
    Number.isInteger(status) &&
    status >= 100 &&
    status <= 599 &&
    isProperties(headers ?? {}) &&
    Array.isArray(cookies ?? []) &&
    (body === null || typeof body === 'string')
  if (!wellFormed) return gatewayMessage(500, 'Internal Server Error')
  return {
    status,
    headers: { 'content-type': 'text/plain;charset=UTF-8', ...lowerCase(headers as Record<string, unknown>) },
    cookies: ((cookies ?? []) as unknown[]).map(String),
    body: Buffer.from(body ?? '', isBase64Encoded === true ? 'base64' : 'utf8'),
  }
}

const inferResponse = (result: unknown): GatewayResponse => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  cookies: [],
  body: Buffer.from(typeof result === 'string' ? result : JSON.stringify(result)),
})

const lowerCase = (headers: Record<string, unknown> | null): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers ?? {})
      .filter(([name, value]) => !ownHeaders.has(name.toLowerCase()) && value !== null)
      .map(([name, value]) => [name.toLowerCase(), String(value)]),
  )

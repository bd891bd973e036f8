import * as v from 'valibot'

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

const selectHeaders = (headers: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !gatewayHeaders.has(name.toLowerCase()))
      .map(([name, value]) => [name.toLowerCase(), String(value)]),
  )

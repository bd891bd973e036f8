import type { APIGatewayProxyEventV2 } from 'aws-lambda'
import { Failure } from '../../errors.ts'
import { type HttpMiddleware, mediaType, readParameters } from '../request.ts'

/** Which kinds of request body an endpoint accepts. */
export type BodyKind = 'none' | 'json' | 'form' | 'form-or-json'

/** Maximum size of a request body in bytes, after decoding base64. */
export const maximumBodyBytes = 64 * 1024

/**
 * Middleware that replaces the body text of the event by its parsed value: a JSON object, or the fields of a
 * form. It refuses a body over 64 KiB, a media type that the endpoint does not accept, and text that does not
 * match its media type.
 */
export const readBody = (kind: BodyKind): HttpMiddleware => ({
  before(request) {
    const { event } = request
    const text = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8')
    if (text.length > maximumBodyBytes) throw new Failure('too_large')
    replaceBody(event, kind === 'none' ? undefined : parse(event, kind, text))
  },
})

function parse(event: APIGatewayProxyEventV2, kind: BodyKind, bytes: Buffer): unknown {
  const type = mediaType(event)
  if (type === 'application/x-www-form-urlencoded' && kind !== 'json')
    return readParameters(bytes.toString('utf8'))
  if (type === 'application/json' && kind !== 'form') return parseJson(bytes)
  throw new Failure('unsupported_media_type')
}

/** Decodes UTF-8, and throws on any other bytes; a byte order mark is no JSON (RFC 8259 §8.1). */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Parses a JSON object. A member `__proto__` is one like any other, because no member is ever copied. */
function parseJson(bytes: Buffer): object {
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(bytes))
  } catch {
    // The parser's error quotes the body.
    throw new Failure('malformed_request')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Failure('malformed_request')
  return value
}

/** API Gateway's event type says that the body is text, so the parsed value is read back as unknown. */
function replaceBody(event: APIGatewayProxyEventV2, body: unknown): void {
  Object.assign(event, { body })
}

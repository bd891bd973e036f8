import type { APIGatewayProxyEventV2 } from 'aws-lambda'
import { Failure } from '../errors.ts'
import { mediaType, readParameters } from './request.ts'

/** Which kinds of request body an endpoint accepts. */
export type BodyKind = 'none' | 'json' | 'form-or-json'

/** Maximum size of a request body in bytes, after decoding base64. */
export const maximumBodyBytes = 64 * 1024

/**
 * Reads the body of a request: a JSON object, or the fields of a form. Refuses one over 64 KiB, a media type
 * that the endpoint does not accept, and text that does not match its media type.
 */
export function readBody(event: APIGatewayProxyEventV2, kind: BodyKind): unknown {
  const bytes = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8')
  if (bytes.length > maximumBodyBytes) throw new Failure('too_large')
  if (kind === 'none') return undefined
  const type = mediaType(event)
  if (type === 'application/x-www-form-urlencoded' && kind !== 'json')
    return readParameters(bytes.toString('utf8'))
  if (type === 'application/json') return parseJson(bytes)
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

import type { MiddlewareObj } from '@middy/core'
import httpJsonBodyParser from '@middy/http-json-body-parser'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import { Failure, invalidParameter } from '../errors.ts'
import { isObject } from '../is-object.ts'

/** Middleware of middy for HTTP requests. */
export type HttpMiddleware = MiddlewareObj<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>

/** Reads from API Gateway's event what an endpoint can need besides its parsed input. */
export const requestInfo = (event: APIGatewayProxyEventV2) => ({
  /**
   * The client's IP address, as CloudFront (the edge) sees it; without CloudFront, as API Gateway sees it. No
   * header that a client can write changes this address.
   */
  sourceIp: event.requestContext.http.sourceIp,
  method: event.requestContext.http.method,
  rawPath: event.rawPath,
  rawQuery: event.rawQueryString,
  /** The body of a form, as sent. */
  rawForm: () => readText(event),
  authorization: (scheme: string) => readAuthorization(event, scheme),
  /** Returns a request header by its lower-case name. */
  header: (name: string) => event.headers[name],
})
export type RequestInfo = ReturnType<typeof requestInfo>

/**
 * Parses form-urlencoded text. Leaves out repeated parameters, and names them in `repeated`. An empty
 * parameter counts as omitted (OAuth 2.1 §3.1 and §3.2). API Gateway's own parser is not used, because it
 * joins repeated parameters with commas.
 */
export function sentParameters(text: string) {
  const sent = [...Map.groupBy(new URLSearchParams(text), ([name]) => name)]
  return {
    // Every parameter becomes an own property, even one named `__proto__`.
    parameters: Object.fromEntries<string>(
      sent.flatMap(([name, [first, ...more]]) => (more.length === 0 && first?.[1] ? [[name, first[1]]] : [])),
    ),
    repeated: sent.flatMap(([name, all]) => (all.length > 1 ? [safeName(name)] : [])),
  }
}

/** The parameters of sentParameters. With `refuse`, throws `invalid_parameter` if a parameter is repeated. */
export function readParameters(text: string, repeats: Repeats = 'refuse'): Record<string, string> {
  const { parameters, repeated } = sentParameters(text)
  if (repeats === 'refuse' && repeated[0] !== undefined) throw invalidParameter(repeated[0], 'is repeated')
  return parameters
}

/** A parameter's name comes from the client, so an error message repeats it only if it is a plain word. */
const safeName = (name: string): string => (/^[A-Za-z0-9_]{1,40}$/.test(name) ? name : 'a parameter')

/** Returns the credentials for a scheme (case-insensitive) in the `Authorization` header (RFC 9110 §11.1). */
export function readAuthorization(event: APIGatewayProxyEventV2, scheme: string): string | undefined {
  const [sent, ...rest] = (event.headers['authorization'] ?? '').trim().split(/ +/)
  return sent?.toLowerCase() === scheme.toLowerCase() && rest.length === 1 ? rest[0] : undefined
}

/** The media type of the body, in lower case and without parameters; '' if none was sent. */
const mediaType = (event: APIGatewayProxyEventV2): string =>
  (event.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? ''

/** Whether the body is a form, as HTML forms and OAuth clients send it. */
export const isForm = (event: APIGatewayProxyEventV2): boolean =>
  mediaType(event) === 'application/x-www-form-urlencoded'

/** Which kinds of request body an endpoint accepts. */
export type BodyKind = 'none' | 'json' | 'form' | 'form-or-json'

/** Maximum size of a request body in bytes, after decoding base64. */
export const maximumBodyBytes = 64 * 1024

/** The bytes of a request's body. Refuses a body over 64 KiB. */
function readBytes(event: APIGatewayProxyEventV2): Buffer {
  const bytes = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8')
  if (bytes.length > maximumBodyBytes) throw new Failure('too_large')
  return bytes
}

function readText(event: APIGatewayProxyEventV2): string {
  const text = readBytes(event).toString('utf8')
  // U+FFFD replaces bytes that are not UTF-8; API Gateway may have replaced them already.
  if (text.includes('\ufffd')) throw new Failure('malformed_request')
  return text
}

/** Whether repeated parameters of a query or form are refused, or left out and reported otherwise. */
export type Repeats = 'refuse' | 'report'

/**
 * Reads a request's body: a JSON object, or the fields of a form. Refuses a body over 64 KiB, a media type
 * that the endpoint does not accept, and malformed text.
 */
export function readBody(
  event: APIGatewayProxyEventV2,
  kind: BodyKind,
  repeats: Repeats = 'refuse',
): unknown {
  if (kind === 'none') return void readBytes(event)
  const hasForm = isForm(event) && kind !== 'json'
  const hasJson = mediaType(event) === 'application/json' && kind !== 'form'
  if (!hasForm && !hasJson) {
    void readBytes(event)
    throw new Failure('unsupported_media_type')
  }
  const text = readText(event)
  return hasForm ? readParameters(text, repeats) : parseJson(event, text)
}

const bodyParser = httpJsonBodyParser<APIGatewayProxyEventV2>()

/**
 * Parses a JSON object. Refuses `__proto__`, and a `constructor` with a `prototype`. Calls the parser
 * directly: as a middleware around the handler it would report a bad body before a bad token, and around the
 * parsing alone it would make that wait, so that the session check and the prefetch would not share a call.
 */
function parseJson(event: APIGatewayProxyEventV2, text: string): object {
  // Drops the media type's parameters. The parser rejects a space before `;`, but RFC 9110 §5.6.6 allows it.
  const headers = { 'content-type': 'application/json' }
  const request = { event: { ...event, headers, isBase64Encoded: false, body: text as unknown } }
  try {
    void bodyParser.before?.(request as never)
  } catch {
    // The parser's error quotes the body, so it is not passed on.
    throw new Failure('malformed_request')
  }
  const value = request.event.body
  if (!isObject(value)) throw new Failure('malformed_request')
  const repeated = repeatedMember(text)
  if (repeated !== undefined) throw invalidParameter(safeName(repeated), 'is repeated')
  return value
}

/** A text with the colon that makes it a member's name, or a bracket. Between them, JSON has no quotes. */
const jsonTokens = /("(?:[^"\\]|\\.)*")(\s*:)?|[{}[\]]/g

/** Returns a name that a JSON object has twice, of which JSON.parse would keep the last, silently. */
function repeatedMember(json: string): string | undefined {
  const names = new Set<string>()
  let depth = 0
  for (const [token, text, colon] of json.matchAll(jsonTokens)) {
    if (text === undefined) depth += token === '{' || token === '[' ? 1 : -1
    else if (colon !== undefined && depth === 1) {
      const name = String(JSON.parse(text))
      if (names.has(name)) return name
      names.add(name)
    }
  }
  return undefined
}

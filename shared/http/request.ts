import type { APIGatewayProxyEventV2 } from 'aws-lambda'
import { invalidParameter } from '../errors.ts'

/** What a request says, before its schema has looked at it. */
export interface RawInput {
  path: unknown
  query: unknown
  body: unknown
}

/** Parameters as they were sent: those with a value that came once, and the names of those that came more often. */
export interface SentParameters {
  parameters: Record<string, string>
  repeated: string[]
}

/**
 * Parameters in `application/x-www-form-urlencoded` text. An empty one counts as omitted (OAuth 2.1 §3.1 and §3.2). Read
 * from the raw text, since API Gateway's own parsing joins repetitions with commas.
 */
export function sentParameters(text: string): SentParameters {
  const sent: SentParameters = { parameters: {}, repeated: [] }
  const counts = new Map<string, number>()
  for (const [name, value] of new URLSearchParams(text)) {
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    if (count === 1 && value !== '') define(sent.parameters, name, value)
  }
  for (const [name, count] of counts) {
    if (count === 1) continue
    sent.repeated.push(safeName(name))
    Reflect.deleteProperty(sent.parameters, name)
  }
  return sent
}

/** The same where a repeated parameter is refused. */
export function readParameters(text: string): Record<string, string> {
  const { parameters, repeated } = sentParameters(text)
  if (repeated[0] !== undefined) throw invalidParameter(repeated[0], 'is repeated')
  return parameters
}

/** An address parameter, a query parameter or a form field may be called `__proto__`: it becomes a plain property. */
function define(target: Record<string, string>, name: string, value: string): void {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true })
}

/** A parameter's name may be told back to its sender only when it is a plain word. */
const safeName = (name: string): string => (/^[A-Za-z0-9_]{1,40}$/.test(name) ? name : 'a parameter')

/** Credentials of the `Authorization` header when its scheme is the given one, in any case (RFC 9110 §11.1). */
export function readAuthorization(event: APIGatewayProxyEventV2, scheme: string): string | undefined {
  const [sent, ...rest] = (event.headers['authorization'] ?? '').trim().split(/ +/)
  return sent?.toLowerCase() === scheme.toLowerCase() && rest.length === 1 ? rest[0] : undefined
}

/** The media type of the body, lower-cased and without parameters; '' where none was sent. */
export const mediaType = (event: APIGatewayProxyEventV2): string =>
  (event.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? ''

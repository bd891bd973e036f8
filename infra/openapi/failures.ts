import { type FailureName, failures, statusOf } from '../../shared/errors.ts'
import type { EndpointDescription } from '../../shared/http/endpoint.ts'
import { type Components, namePart, pascalCase } from './components.ts'
import type { Operation } from './operation.ts'
import { type JsonSchema, objectOf } from './schemas.ts'

/**
 * Error answers that API Gateway itself generates, with their causes, keyed by status. The service cannot
 * change these bodies. Sources: AWS guides on throttling, quotas and troubleshooting of HTTP APIs.
 */
const gatewayAnswers: Record<number, { message: string; when: string }> = {
  413: { message: 'Request Entity Too Large', when: 'the request is over 10 MB, or over 6 MB as an event' },
  429: { message: 'Too Many Requests', when: 'the route or the account is throttled' },
  500: { message: 'Internal Server Error', when: 'the function crashed or was ended' },
  503: { message: 'Service Unavailable', when: 'no function was free, or none answered within 30 seconds' },
}

/** Lists the failures that follow from an endpoint's scope and body. `Operation.failures` has the others. */
function impliedFailures(endpoint: EndpointDescription): FailureName[] {
  // Every endpoint rejects repeated query parameters and large bodies, even an endpoint without input.
  const names: FailureName[] = ['internal', 'unavailable', 'invalid_parameter', 'too_large']
  if (endpoint.scope !== 'public') names.push('unauthenticated', 'insufficient_scope')
  if (endpoint.accepts !== 'none') names.push('malformed_request', 'unsupported_media_type')
  return names
}

/** What a client should do about each failure, for the list in README.md and the API reference. */
export const whatToDo: Record<FailureName, string> = {
  malformed_request: 'Send the body as the `content-type` says: a JSON object, or a form.',
  invalid_parameter: 'Correct the fields that `data.errors` names; do not repeat the request unchanged.',
  invalid_redirect: 'Register the client and this exact redirect URI, or correct the configuration.',
  invalid_grant: 'Begin the authorization again: a code lives for 60 seconds and works once.',
  unsupported_grant_type: 'Use `authorization_code`; there are no refresh tokens.',
  invalid_scope: 'Ask for `openid` and for scopes that the client is registered for.',
  unauthenticated: 'Let the user sign in again: the token is missing, has expired or was revoked.',
  bad_credentials: 'Let the user correct the address or the password.',
  bad_login_ticket: 'Begin again with the password: the ticket has expired or was used.',
  bad_verification_code: 'Let the user type the current code; after five wrong ones begin again.',
  invalid_client: 'Correct the client’s id or secret.',
  insufficient_scope: 'Ask the user for the scope that the endpoint’s row names, by a new authorization.',
  forbidden: 'Ask only for what belongs to the signed-in user.',
  no_route: 'Correct the path.',
  not_found: 'Treat the record as missing: it does not exist, or belongs to somebody else.',
  method_not_allowed: 'Use a method of the header `Allow`.',
  too_large: 'Send less than 64 KiB.',
  unsupported_media_type: 'Send `content-type: application/json`, or a form where the endpoint takes one.',
  too_many_requests: 'Wait for `Retry-After` seconds, then try again.',
  internal: 'Report it with the `x-request-id` of the answer; a later try may succeed.',
  unavailable: 'Wait for `Retry-After` seconds, then try again.',
}

/** Describes every failure of an endpoint, keyed by status, including the failures of API Gateway itself. */
export function failureResponses(
  endpoint: EndpointDescription,
  operation: Operation,
  components: Components,
): JsonSchema {
  const names = [...new Set([...(operation.failures ?? []), ...impliedFailures(endpoint)])]
  const statuses = [...names.flatMap(statusesOf), ...Object.keys(gatewayAnswers).map(Number)]
  return Object.fromEntries(
    [...new Set(statuses)].map((status) => {
      const own = names.filter((name) => statusesOf(name).includes(status))
      const prefix = endpoint.dialect === 'oauth' && own.length > 0 ? 'oauth ' : ''
      const name = pascalCase(prefix + (own.join(' or ') || 'throttled'))
      const response = describeStatus(status, own, endpoint)
      return [status, namePart(components, 'responses', name, response)]
    }),
  )
}

/**
 * HTTP statuses of a failure. Wrong client credentials get 401 if they came in a header, and 400 if they came
 * in the body (RFC 6749 §5.2).
 */
const statusesOf = (name: FailureName): number[] =>
  name === 'invalid_client' ? [400, statusOf(name)] : [statusOf(name)]

function describeStatus(status: number, names: FailureName[], endpoint: EndpointDescription): JsonSchema {
  const gateway = gatewayAnswers[status]
  const own = names.map((name) => `${failures[name].code} ${name}: ${failures[name].msg}`)
  const others = gateway ? [`without the envelope, by API Gateway: ${gateway.when}`] : []
  const examples = names.map((name): [string, object] => [name, { value: exampleFailure(name, endpoint) }])
  if (gateway) examples.push(['api_gateway', { value: { message: gateway.message } }])
  const schema = refTo(gateway ? 'AnyFailure' : 'Failure')
  return {
    description: [...own, ...others].join('; '),
    ...(status === 429 || status === 503 ? { headers: { 'retry-after': retryAfter } } : {}),
    content: { 'application/json': { schema, examples: Object.fromEntries(examples) } },
  }
}

const retryAfter: JsonSchema = {
  description: 'Seconds to wait before the request is sent again. API Gateway’s own answers lack it.',
  schema: { type: 'integer', minimum: 1 },
}

function exampleFailure(name: FailureName, { dialect }: EndpointDescription): JsonSchema {
  const { code, msg, oauth } = failures[name]
  const data = name === 'invalid_parameter' ? { errors: [{ field: 'size', reason: 'is required' }] } : null
  return { ...(dialect === 'oauth' ? { error: oauth, error_description: msg } : {}), code, msg, data }
}

const refTo = (schema: string): JsonSchema => ({ $ref: `#/components/schemas/${schema}` })
const text = { type: 'string' }
const codeText = 'Begins with the status. Later releases add codes: go by the status if a code is new.'
const failure = {
  code: { type: 'integer', format: 'int32', description: codeText },
  msg: { ...text, description: 'For people.' },
  data: { oneOf: [refTo('FailureDetails'), { type: 'null' }] },
}
const oauth = { error: { ...text, description: 'OAuth endpoints: RFC 6749 §5.2.' }, error_description: text }
const fieldText =
  'The field or parameter; of an unknown parameter that is repeated, its name if that is a plain word.'

/** The schemas of failures. `AnyFailure` also fits the failures that API Gateway answers by itself. */
export const failureSchemas: Record<string, JsonSchema> = {
  Failure: objectOf(failure, oauth),
  FailureDetails: objectOf({ errors: { type: 'array', items: refTo('FieldError') } }),
  FieldError: objectOf({ field: { ...text, description: fieldText }, reason: text }),
  AnyFailure: objectOf({}, { ...failure, ...oauth, message: text }),
}

import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import { failures, type Failure } from '../errors.ts'
import { stringifyExact } from '../stringify-exact.ts'

/** Layout of an answer: `oauth` adds the standard OAuth members at the top level, for OAuth clients. */
export type Dialect = 'envelope' | 'oauth'

/** A complete answer. Endpoints return a Reply instead of `data` for a redirect, a CSV download or a 304. */
export class Reply {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string

  constructor(status: number, headers: Record<string, string> = {}, body = '') {
    this.status = status
    this.headers = headers
    this.body = body
  }
}

/** Headers of every answer; public documents have another `cache-control`. */
export const commonHeaders = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'strict-transport-security': 'max-age=63072000; includeSubDomains',
  'referrer-policy': 'no-referrer',
}

/** Header of every answer with a JSON body. */
export const json = { 'content-type': 'application/json' }

/** Creates the answer for a success (`code` 0), in the given layout. */
export const succeed = (data: unknown, dialect: Dialect): APIGatewayProxyStructuredResultV2 =>
  send(new Reply(200, json, successBody(data, dialect)))

/** Builds the body of a successful answer in the given layout. */
export function successBody(data: unknown, dialect: Dialect): string {
  const standard = dialect === 'oauth' ? (data as Record<string, unknown>) : {}
  return stringifyExact({ ...standard, code: 0, msg: 'success', data })
}

/** Creates the answer for a failure, with the failure's status and code, in the given layout. */
export function fail(failure: Failure, dialect: Dialect): APIGatewayProxyStructuredResultV2 {
  const { code, oauth } = failures[failure.failure]
  const standard = dialect === 'oauth' ? { error: oauth, error_description: describeFailure(failure) } : {}
  const data = failure.failure === 'invalid_parameter' ? { errors: failure.fields } : null
  const { retryAfterSeconds: wait } = failure
  const retry = wait === undefined ? {} : { 'retry-after': String(Math.ceil(wait)) }
  const body = stringifyExact({ ...standard, code, msg: failure.msg, data })
  return send(new Reply(failure.status, { ...json, ...retry, ...failure.headers }, body))
}

/**
 * Completes a reply with the headers that every answer carries. If nobody may store the answer, it also gets
 * `pragma: no-cache`, for HTTP/1.0 caches (RFC 6749 §5.1).
 */
export function send({ status, headers: own, body }: Reply): APIGatewayProxyStructuredResultV2 {
  const headers = { ...commonHeaders, ...own }
  const isStored = headers['cache-control'] !== 'no-store'
  return { statusCode: status, headers: isStored ? headers : { ...headers, pragma: 'no-cache' }, body }
}

/**
 * The `error_description` of a failure: ASCII without quotes and backslashes (RFC 6749 §5.2). Other
 * characters are replaced, because a failure may name a field that the client sent.
 */
export function describeFailure(failure: Failure): string {
  const { msg } = failures[failure.failure]
  const text =
    failure.fields.length === 0
      ? msg
      : failure.fields.map(({ field, reason }) => `${field} ${reason}`).join('; ')
  return text.replaceAll(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, ' ')
}

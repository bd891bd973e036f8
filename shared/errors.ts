/**
 * Every failure that a client can see, by name: the integer `code` of the envelope, the HTTP status, the
 * message for people, and, for OAuth endpoints, the `error` of RFC 6749 §5.2 and RFC 6750 §3.1.
 */
export const failures = {
  malformed_request: {
    code: 40000,
    status: 400,
    msg: 'the request body could not be read',
    oauth: 'invalid_request',
  },
  invalid_parameter: {
    code: 40001,
    status: 400,
    msg: 'a parameter is missing or invalid',
    oauth: 'invalid_request',
  },
  invalid_redirect: {
    code: 40002,
    status: 400,
    msg: 'unknown client_id or redirect_uri',
    oauth: 'invalid_request',
  },
  invalid_grant: {
    code: 40003,
    status: 400,
    msg: 'the code or token is not valid here',
    oauth: 'invalid_grant',
  },
  unsupported_grant_type: {
    code: 40004,
    status: 400,
    msg: 'this grant_type is not supported',
    oauth: 'unsupported_grant_type',
  },
  invalid_scope: { code: 40005, status: 400, msg: 'the scope is not valid', oauth: 'invalid_scope' },
  unauthenticated: { code: 40100, status: 401, msg: 'sign in first', oauth: 'invalid_token' },
  bad_credentials: { code: 40101, status: 401, msg: 'email or password is wrong', oauth: 'access_denied' },
  bad_login_ticket: { code: 40102, status: 401, msg: 'sign in again', oauth: 'access_denied' },
  bad_verification_code: {
    code: 40103,
    status: 401,
    msg: 'the code is wrong or has expired',
    oauth: 'access_denied',
  },
  invalid_client: { code: 40104, status: 401, msg: 'client authentication failed', oauth: 'invalid_client' },
  insufficient_scope: {
    code: 40300,
    status: 403,
    msg: 'the token does not reach this endpoint',
    oauth: 'insufficient_scope',
  },
  forbidden: { code: 40301, status: 403, msg: 'this is not yours', oauth: 'access_denied' },
  no_route: { code: 40400, status: 404, msg: 'there is nothing at this address', oauth: 'invalid_request' },
  not_found: { code: 40401, status: 404, msg: 'there is no such record', oauth: 'invalid_request' },
  method_not_allowed: {
    code: 40500,
    status: 405,
    msg: 'this method is not allowed here',
    oauth: 'invalid_request',
  },
  too_large: { code: 41300, status: 413, msg: 'the request body is over 64 KiB', oauth: 'invalid_request' },
  unsupported_media_type: {
    code: 41500,
    status: 415,
    msg: 'this content-type is not supported',
    oauth: 'invalid_request',
  },
  too_many_requests: {
    code: 42900,
    status: 429,
    msg: 'too many requests, try again later',
    oauth: 'slow_down',
  },
  internal: { code: 50000, status: 500, msg: 'something went wrong on our side', oauth: 'server_error' },
  unavailable: {
    code: 50300,
    status: 503,
    msg: 'temporarily unavailable, try again',
    oauth: 'temporarily_unavailable',
  },
} as const

export type FailureName = keyof typeof failures

/** One refused field of a request; `reason` never quotes the value that was sent. */
export interface FieldError {
  field: string
  reason: string
}

/** A failure that may be shown to the client unchanged. Any other error is answered as `internal`. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly failure: FailureName
  /** The refused fields and the reason for each, for `invalid_parameter`. */
  readonly fields: FieldError[]
  /** Value of the header `Retry-After`, in seconds. */
  readonly retryAfterSeconds: number | undefined
  /** Further answer headers, such as `www-authenticate` or `allow`. */
  readonly headers: Record<string, string>
  /** HTTP status of the answer: the failure's own, unless it was overridden. */
  readonly status: number

  constructor(
    failure: FailureName,
    options: {
      fields?: FieldError[]
      retryAfterSeconds?: number
      headers?: Record<string, string>
      status?: number
      cause?: unknown
    } = {},
  ) {
    super(failures[failure].msg, { cause: options.cause })
    this.failure = failure
    this.fields = options.fields ?? []
    this.retryAfterSeconds = options.retryAfterSeconds
    this.headers = options.headers ?? {}
    this.status = options.status ?? failures[failure].status
  }
}

/**
 * Base of errors for a write that others overtook and that changed nothing. The same may succeed when it is
 * read and decided again; after too many attempts the caller is told to come back.
 */
export class OptimisticLockError extends Error {
  override readonly name: string = 'OptimisticLockError'
}

/** The cause of the failures that an operator asked for: the service is out of service for maintenance. */
export class UnderMaintenance extends Error {
  override readonly name = 'UnderMaintenance'
}

/** The `invalid_parameter` failure for a single field. */
export const invalidParameter = (field: string, reason: string): Failure =>
  new Failure('invalid_parameter', { fields: [{ field, reason }] })

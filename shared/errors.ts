/**
 * Every failure that a client can see, by name. Its `code` begins with the usual HTTP status. `msg` is a
 * message for people. `oauth` is the `error` of OAuth endpoints (RFC 6749 §5.2, RFC 6750 §3.1).
 */
export const failures = {
  malformed_request: { code: 40000, msg: 'the request body could not be read', oauth: 'invalid_request' },
  invalid_parameter: { code: 40001, msg: 'a parameter is missing or invalid', oauth: 'invalid_request' },
  invalid_redirect: { code: 40002, msg: 'unknown client_id or redirect_uri', oauth: 'invalid_request' },
  invalid_grant: { code: 40003, msg: 'the code or token is not valid here', oauth: 'invalid_grant' },
  unsupported_grant_type: {
    code: 40004,
    msg: 'this grant_type is not supported',
    oauth: 'unsupported_grant_type',
  },
  invalid_scope: { code: 40005, msg: 'the scope is not valid', oauth: 'invalid_scope' },
  unauthenticated: { code: 40100, msg: 'sign in first', oauth: 'invalid_token' },
  bad_credentials: { code: 40101, msg: 'email or password is wrong', oauth: 'access_denied' },
  bad_login_ticket: { code: 40102, msg: 'sign in again', oauth: 'access_denied' },
  bad_verification_code: { code: 40103, msg: 'the code is wrong or has expired', oauth: 'access_denied' },
  invalid_client: { code: 40104, msg: 'client authentication failed', oauth: 'invalid_client' },
  insufficient_scope: {
    code: 40300,
    msg: 'the token does not reach this endpoint',
    oauth: 'insufficient_scope',
  },
  forbidden: { code: 40301, msg: 'this is not yours', oauth: 'access_denied' },
  no_route: { code: 40400, msg: 'there is nothing at this address', oauth: 'invalid_request' },
  not_found: { code: 40401, msg: 'there is no such record', oauth: 'invalid_request' },
  method_not_allowed: { code: 40500, msg: 'this method is not allowed here', oauth: 'invalid_request' },
  too_large: { code: 41300, msg: 'the request body is over 64 KiB', oauth: 'invalid_request' },
  unsupported_media_type: {
    code: 41500,
    msg: 'this content-type is not supported',
    oauth: 'invalid_request',
  },
  too_many_requests: { code: 42900, msg: 'too many requests, try again later', oauth: 'slow_down' },
  internal: { code: 50000, msg: 'something went wrong on our side', oauth: 'server_error' },
  unavailable: { code: 50300, msg: 'temporarily unavailable, try again', oauth: 'temporarily_unavailable' },
} as const

export type FailureName = keyof typeof failures

/** HTTP status with which a failure is usually answered. */
export const statusOf = (failure: FailureName): number => Math.floor(failures[failure].code / 100)

/** One refused field of a request; `reason` never quotes the value that was sent. */
export interface FieldError {
  field: string
  reason: string
}

/** A failure that is shown to the client unchanged. Any other error is answered as `internal`. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly failure: FailureName
  /** The message for a person. Default: that of the failure. */
  readonly msg: string
  /** The refused fields and the reason for each, for `invalid_parameter`. */
  readonly fields: FieldError[]
  readonly retryAfterSeconds: number | undefined
  /** Further response headers, such as `www-authenticate` or `allow`. */
  readonly headers: Record<string, string>
  /** HTTP status of the answer. Default: statusOf(failure). */
  readonly status: number

  constructor(
    failure: FailureName,
    options: {
      msg?: string
      fields?: FieldError[]
      retryAfterSeconds?: number
      headers?: Record<string, string>
      status?: number
      cause?: unknown
    } = {},
  ) {
    const { msg = failures[failure].msg } = options
    super(msg, { cause: options.cause })
    this.failure = failure
    this.msg = msg
    this.fields = options.fields ?? []
    this.retryAfterSeconds = options.retryAfterSeconds
    this.headers = options.headers ?? {}
    this.status = options.status ?? statusOf(failure)
  }
}

/**
 * Base class of errors for a write that changed nothing, because other writers were faster. An attempt that
 * reads and decides anew can succeed. After too many attempts, the caller is told to try again later.
 */
export class OptimisticLockError extends Error {
  override readonly name: string = 'OptimisticLockError'
}

/** The cause of failures while an operator has switched the service off for maintenance. */
export class UnderMaintenance extends Error {
  override readonly name = 'UnderMaintenance'
}

/** Cause of an `unavailable` failure that arose inside Node.js. Such a failure counts as a fault. */
export class RuntimeFault extends Error {
  override readonly name = 'RuntimeFault'
}

/** The `invalid_parameter` failure for a single field. */
export const invalidParameter = (field: string, reason: string): Failure =>
  new Failure('invalid_parameter', { fields: [{ field, reason }] })

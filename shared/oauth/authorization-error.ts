import { Failure } from '../errors.ts'

/** Values of `error` in an authorization response (RFC 6749 §4.1.2.1, OpenID Connect Core §3.1.2.6, §6). */
type AuthorizationErrorCode =
  | 'invalid_request'
  | 'invalid_scope'
  | 'login_required'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | 'unsupported_response_type'

/**
 * Error for a bad parameter of an authorization request whose client and redirect URI are valid. `GET
 * /oauth2/authorize` redirects to the client with `error`; consent answers it like any other failure.
 */
export class AuthorizationError extends Failure {
  readonly error: AuthorizationErrorCode

  constructor(field: string, reason: string, error: AuthorizationErrorCode = 'invalid_request') {
    super(error === 'invalid_scope' ? 'invalid_scope' : 'invalid_parameter', { fields: [{ field, reason }] })
    this.error = error
  }
}

import { Failure, type FailureName, type FieldError } from '../errors.ts'

/** Errors that an authorization request may be answered with (RFC 6749 §4.1.2.1, OpenID Connect Core §3.1.2.6 and §6). */
export type AuthorizationError =
  | 'access_denied'
  | 'invalid_request'
  | 'invalid_scope'
  | 'login_required'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | 'unsupported_response_type'

/**
 * What is wrong with an authorization request whose client and redirect URI are good. `GET /oauth2/authorize` tells the client by a redirect; consent
 * answers it as the failure that it also is.
 */
export class AuthorizationFault extends Failure {
  readonly error: AuthorizationError

  constructor(error: AuthorizationError, failure: FailureName, field: FieldError) {
    super(failure, { fields: [field] })
    this.error = error
  }
}

/** The fault of one parameter. */
export const faultOf = (
  field: string,
  reason: string,
  error: AuthorizationError = 'invalid_request',
): AuthorizationFault =>
  new AuthorizationFault(error, error === 'invalid_scope' ? 'invalid_scope' : 'invalid_parameter', {
    field,
    reason,
  })

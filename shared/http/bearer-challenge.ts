import { Failure, type FailureName } from '../errors.ts'

const errors: Partial<Record<FailureName, string>> = {
  unauthenticated: 'invalid_token',
  insufficient_scope: 'insufficient_scope',
}

/**
 * A failure with the challenge of RFC 6750 §3 where it is about the access_token: a bare one where none was sent, with `error` where one was
 * (§3.1). Any other failure is given back as it is.
 */
export function bearerChallenge(failure: Failure, tokenSent = true): Failure {
  const error = errors[failure.failure]
  if (error === undefined) return failure
  return new Failure(failure.failure, {
    headers: { 'www-authenticate': tokenSent ? `Bearer error="${error}"` : 'Bearer' },
  })
}

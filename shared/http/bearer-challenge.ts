import { Failure, type FailureName } from '../errors.ts'
import { log } from '../log.ts'
import { type Caller, checkAccessToken } from '../tokens/access-token.ts'
import type { RequiredScope } from '../tokens/scopes.ts'

const errors: Partial<Record<FailureName, string>> = {
  unauthenticated: 'invalid_token',
  insufficient_scope: 'insufficient_scope',
}

/**
 * Adds the `WWW-Authenticate` challenge of RFC 6750 §3 to a failure about the access_token. The challenge has
 * an `error` only when a token was sent (§3.1). Other failures are returned unchanged.
 */
export function bearerChallenge(failure: Failure, tokenSent = true): Failure {
  const error = errors[failure.failure]
  if (error === undefined) return failure
  return new Failure(failure.failure, {
    headers: { 'www-authenticate': tokenSent ? `Bearer error="${error}"` : 'Bearer' },
  })
}

/** Finds the caller of an access_token as checkAccessToken does; its failures have a challenge. */
export async function checkBearer(token: string, scope: RequiredScope): Promise<Caller> {
  try {
    const caller = await checkAccessToken(token, scope)
    log.appendKeys({ user_id: caller.userId })
    return caller
  } catch (error) {
    throw error instanceof Failure ? bearerChallenge(error) : error
  }
}

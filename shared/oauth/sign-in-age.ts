import * as v from 'valibot'
import { Failure } from '../errors.ts'
import type { Caller } from '../tokens/access-token.ts'
import { AuthorizationError } from './authorization-error.ts'
import { Parameter } from './parameter.ts'

/** Schema of `max_age`, in seconds: text as in a query, or a number in JSON. */
export const MaxAge = v.pipe(
  v.optional(v.union([v.string(), v.number()])),
  v.transform((value) => value?.toString()),
  Parameter,
)

/**
 * How old a sign-in may be that was made for this very request, in seconds: the time in which a person reads
 * what an app asks for and decides.
 */
const maxDecisionSeconds = 300

/**
 * How old the user's sign-in may be, in seconds, according to `prompt=login` and `max_age`; undefined if the
 * request does not say. Throws AuthorizationError for a `max_age` that is no number of seconds.
 */
export function maxSignInAge(parameters: {
  prompt?: string | undefined
  max_age?: string | undefined
}): number | undefined {
  const { prompt, max_age } = parameters
  if (max_age !== undefined && !/^\d{1,12}$/.test(max_age)) {
    throw new AuthorizationError('max_age', 'must be a whole number of seconds')
  }
  const maxAge = max_age === undefined ? Infinity : Number(max_age)
  // `max_age=0` means the same as `prompt=login` (OpenID Connect Core §3.1.2.1).
  const signInAgain = maxAge === 0 || prompt?.split(' ').includes('login')
  const limit = Math.min(maxAge || Infinity, signInAgain ? maxDecisionSeconds : Infinity)
  return limit === Infinity ? undefined : limit
}

/**
 * Checks that the user signed in recently enough. Otherwise throws `unauthenticated` with the challenge of
 * RFC 9470 §3, by which the authorization page knows that the user has to sign in again.
 */
export function checkSignInAge(
  { authenticatedAt }: Pick<Caller, 'authenticatedAt'>,
  maxSeconds: number,
): void {
  if (Date.now() - authenticatedAt <= maxSeconds * 1000) return
  throw new Failure('unauthenticated', {
    headers: {
      'www-authenticate': `Bearer error="insufficient_user_authentication", max_age="${maxSeconds}"`,
    },
  })
}

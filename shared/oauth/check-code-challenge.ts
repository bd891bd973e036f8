import type { AuthorizationParameters } from './authorization-parameters.ts'
import { faultOf } from './authorization-fault.ts'

/** base64url of a SHA-256, which is what every S256 challenge is. */
const s256Challenge = /^[A-Za-z0-9_-]{43}$/

/**
 * PKCE is required, with S256 alone (RFC 7636 §4.3 and §4.4.1, RFC 9700 §2.1.1). An omitted method would mean `plain`.
 * Gives back the challenge.
 */
export function checkCodeChallenge(parameters: AuthorizationParameters): string {
  const { code_challenge, code_challenge_method } = parameters
  if (code_challenge === undefined) throw faultOf('code_challenge', 'is required')
  if (code_challenge_method !== 'S256') throw faultOf('code_challenge_method', 'must be S256')
  if (!s256Challenge.test(code_challenge)) {
    throw faultOf('code_challenge', 'must be the base64url of a SHA-256')
  }
  return code_challenge
}

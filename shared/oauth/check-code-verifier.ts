import { createHash, timingSafeEqual } from 'node:crypto'
import { Failure, invalidParameter } from '../errors.ts'

/** 43 to 128 unreserved characters (RFC 7636 §4.1). */
const verifierShape = /^[A-Za-z0-9\-._~]{43,128}$/

/**
 * The verifier is the one behind the challenge (RFC 7636 §4.6), else `invalid_grant`. One that is, but is too short to be
 * unguessable or of other characters, is a bad parameter.
 */
export function checkCodeVerifier(verifier: string, challenge: string): void {
  const actual = Buffer.from(createHash('sha256').update(verifier).digest('base64url'))
  const expected = Buffer.from(challenge)
  if (actual.length !== expected.length || !timingSafeEqual(actual, expected)) {
    throw new Failure('invalid_grant')
  }
  if (!verifierShape.test(verifier)) {
    throw invalidParameter('code_verifier', 'must be 43 to 128 unreserved characters')
  }
}

import type { User } from '../users/user.ts'
import { Failure } from '../errors.ts'
import { isMailedCode } from './mailed-code.ts'
import { decryptTotpSecret } from './totp-secret.ts'
import { verifyTotp } from './verify-totp.ts'

/** A code and what it comes from. */
export interface SecondFactor {
  method: 'EMAIL' | 'AUTHENTICATOR'
  code: string
}

/**
 * Throws `bad_verification_code` unless the code is right. Resolves with the time step that a TOTP uses up. A method that
 * the user does not have is a wrong code like any other.
 */
export async function verifySecondFactor(
  user: User,
  ticket: string,
  codeDigest: string | undefined,
  { method, code }: SecondFactor,
  now: number,
): Promise<number | undefined> {
  if (method === 'EMAIL') {
    if (codeDigest !== undefined && isMailedCode(ticket, code, codeDigest)) return undefined
  } else if (user.totpSecret !== undefined) {
    const secret = await decryptTotpSecret(user.userId, user.totpSecret)
    const step = await verifyTotp(secret, code, user.lastTotpStep, now)
    if (step !== undefined) return step
  }
  throw new Failure('bad_verification_code')
}

import { encryptTotpSecret } from '../sign-in/code/totp.ts'
import { hashPassword } from '../sign-in/password/digest.ts'
import type { UserChanges } from '../users/identity.ts'

/**
 * New values of a user's fields as the business server sends them: the password as its MD5 in lower-case
 * hexadecimal digits, the TOTP secret in base32.
 */
export type SentFields = Omit<UserChanges, 'totp_secret'> & { totp_secret?: string | undefined }

type Secrets = Pick<UserChanges, 'login_password' | 'totp_secret'>

/** Converts sent values to their stored form, with secrets hashed or encrypted. */
export async function toStored<Fields extends SentFields>(
  userId: number,
  fields: Fields,
): Promise<Omit<Fields, keyof Secrets> & Secrets> {
  const { login_password: password, totp_secret: secret, ...rest } = fields
  const [login_password, totp_secret] = await Promise.all([
    password === undefined ? undefined : hashPassword(password),
    secret === undefined ? undefined : encryptTotpSecret(userId, secret),
  ])
  return { ...rest, login_password, totp_secret }
}

import { readSignInRecord } from '../../shared/sign-in/record.ts'
import { readEmailOwner } from '../../shared/users/identity.ts'
import { normalizeEmail } from '../../shared/users/normalize-email.ts'
import { readUser } from '../../shared/users/user.ts'
import { OperationError } from './errors.ts'

/** A user's data without secrets, by id or email address. Throws an OperationError for an unknown user. */
export async function describeUser(reference: string) {
  const userId = /^\d+$/.test(reference) ? Number(reference) : await readEmailOwner(normalizeEmail(reference))
  const [user, signIn] =
    userId === undefined
      ? []
      : await Promise.all([readUser(userId, { consistent: true }), readSignInRecord(userId)])
  if (user === undefined || signIn === undefined) throw new OperationError(`there is no user ${reference}`)
  return {
    user_id: user.userId,
    email: user.email,
    nickname: user.nickname,
    disabled: signIn.disabled,
    password: signIn.login_password !== undefined,
    authenticator: signIn.totp_secret !== undefined,
    passkey: signIn.passkey,
    referrer_id: user.referrerId ?? null,
    registered_at: user.registeredAt,
  }
}

/** Throws an OperationError for an unknown user, of whom nothing can be verified. */
export async function checkUserExists(userId: number): Promise<void> {
  if ((await readUser(userId, { consistent: true })) === undefined)
    throw new OperationError(`there is no user ${userId}`)
}

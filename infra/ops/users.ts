import { generateSecret, generateURI } from 'otplib'
import { renderUnicodeCompact } from 'uqr'
import { readSignInRecord, type SignInRecord } from '../../shared/sign-in/record.ts'
import { updateStamp } from '../../shared/registration/update.ts'
import { normalizeEmail, type UserChanges } from '../../shared/users/identity.ts'
import { readEmailOwner } from '../../shared/users/email-owner.ts'
import { readUser, type User } from '../../shared/users/user.ts'
import { OperationError } from './errors.ts'
import { formatInstant, inOneLine } from './terminal.ts'

/** A user, and what signs them in. */
export interface Account extends User {
  signIn: SignInRecord
}

/** Finds a user by id or email address. Throws an OperationError if there is none. */
export async function findUser(reference: string): Promise<Account> {
  const userId = /^\d+$/.test(reference) ? Number(reference) : await readEmailOwner(normalizeEmail(reference))
  const [user, signIn] =
    userId === undefined
      ? []
      : await Promise.all([readUser(userId, { consistent: true }), readSignInRecord(userId)])
  if (user === undefined || signIn === undefined) throw new OperationError(`there is no user ${reference}`)
  return { ...user, signIn }
}

/**
 * Whether an update of one field of a user stands. Throws an OperationError if a later update of the field
 * stands.
 */
export async function isUpdated(
  { userId, at, updateId }: { userId: number; at: number; updateId: string },
  field: keyof UserChanges,
): Promise<boolean> {
  const user = await readUser(userId, { consistent: true })
  const stamp = updateStamp(at, updateId)
  const standing = user?.stamps[field] ?? ''
  if (standing > stamp) {
    const later = formatInstant(Number(standing.split('#', 1)[0]))
    throw new OperationError(
      `nothing has changed: an update of ${field} of user ${userId} at ${later} is later`,
    )
  }
  return standing === stamp
}

/** Returns a user's data without secrets. */
export const describeUser = (user: Account) => ({
  user_id: user.userId,
  email: user.email,
  nickname: user.nickname,
  disabled: user.signIn.disabled,
  password: user.signIn.loginPassword !== undefined,
  authenticator: user.signIn.totpSecret !== undefined,
  passkey: user.signIn.passkey,
  referrer_id: user.referrerId ?? null,
  registered_at: user.registeredAt,
})

/** Formats a user as text, without secrets. */
export function formatUser(user: Account): string {
  const facts = describeUser(user)
  return Object.entries({ ...facts, registered_at: formatInstant(facts.registered_at) })
    .map(([name, value]) => `${name.padEnd(14)}${inOneLine(String(value ?? '-'))}`)
    .join('\n')
}

/** A new secret for an authenticator app. */
export interface Enrolment {
  /** TOTP secret in Base32. */
  totp_secret: string
  /** The otpauth key URI, which the QR code contains. */
  otpauth_uri: string
}

/** Creates a TOTP secret of 160 bits, as RFC 4226 §4 recommends. */
export function newEnrolment(email: string): Enrolment {
  const secret = generateSecret({ length: 20 })
  return {
    totp_secret: secret,
    otpauth_uri: generateURI({ issuer: 'Account service', label: email, secret }),
  }
}

/** Formats a new authenticator secret as text: the QR code, and the secret for manual entry. */
export const formatEnrolment = ({ totp_secret: secret, otpauth_uri: uri }: Enrolment): string =>
  [renderUnicodeCompact(uri), `Secret for typing: ${secret}`, 'This is the only time it is shown.'].join('\n')

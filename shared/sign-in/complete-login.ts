import * as v from 'valibot'
import { transact } from '../db/write.ts'
import { Failure } from '../errors.ts'
import { settings } from '../settings.ts'
import { issueAccessToken } from '../tokens/access-token.ts'
import { signDeviceToken } from '../tokens/device-token.ts'
import { scopes } from '../tokens/scopes.ts'
import { EmailAddress, normalizeEmail } from '../users/identity.ts'
import { acceptSecondFactor, readUser, type User } from '../users/user.ts'
import { consumeTicket, countTicketAttempt, type LoginTicket } from './login-ticket.ts'
import { isMailedCode, SixDigits } from './mailed-code.ts'
import { decryptTotpSecret, verifyTotp } from './totp.ts'

const commonFields = {
  email: EmailAddress,
  login_ticket: v.pipe(v.string(), v.minLength(1, 'must not be empty'), v.maxLength(128, 'is too long')),
}

/** Schema of a second factor. The method decides which code is required; the other one is ignored. */
export const LoginVerifyForm = v.pipe(
  v.variant('method', [
    v.object({ ...commonFields, method: v.literal('EMAIL'), validate_code: SixDigits }),
    v.object({ ...commonFields, method: v.literal('AUTHENTICATOR'), authenticator_code: SixDigits }),
  ]),
  v.transform((form) => ({
    email: form.email,
    ticket: form.login_ticket,
    method: form.method,
    code: form.method === 'EMAIL' ? form.validate_code : form.authenticator_code,
  })),
)
export type LoginVerifyForm = v.InferOutput<typeof LoginVerifyForm>

/**
 * Completes a sign-in. One transaction uses up the login ticket and the time step of a TOTP, and makes the
 * access_token work. Throws `bad_login_ticket` or `bad_verification_code`.
 */
export async function completeLogin(form: LoginVerifyForm) {
  const now = Date.now()
  const loginTicket = await countTicketAttempt(form.ticket, normalizeEmail(form.email), now)
  const user = await readUser(loginTicket.userId, { consistent: true })
  if (user === undefined || user.disabled) throw new Failure('bad_login_ticket')
  const totpStep = await verifySecondFactor(user, loginTicket, form, now)
  return issueTokens(user, form.ticket, totpStep)
}

/**
 * Verifies a second factor. Throws `bad_verification_code` unless the code is right; a method that the user
 * has not enrolled counts as a wrong code. Resolves with the time step of a TOTP, which is to be used up.
 */
async function verifySecondFactor(
  user: User,
  { codeDigest }: LoginTicket,
  { ticket, method, code }: LoginVerifyForm,
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

async function issueTokens(user: User, ticket: string, totpStep: number | undefined) {
  const { firstPartyClientId: clientId, accessTokenTtlSeconds } = settings()
  const authenticatedAt = Date.now()
  // The expiry is in whole seconds, so that `expire` and the `exp` of the device_token are the same instant.
  const expiresAt = (Math.floor(authenticatedAt / 1000) + accessTokenTtlSeconds) * 1000
  const grant = { userId: user.userId, clientId, scopes, expiresAt, authenticatedAt }
  const { accessToken, sessionId, put } = issueAccessToken({ ...grant, firstParty: true })
  // The device_token is signed before the write, so that a failure to sign leaves ticket and code unused. The
  // tokens are returned only after the write.
  const deviceToken = await signDeviceToken({
    ...grant,
    sessionId,
    accessToken,
    email: user.email,
    nickname: user.nickname,
  })
  await transact([consumeTicket(ticket), acceptSecondFactor(user.userId, totpStep), put])
  return { access_token: accessToken, device_token: deviceToken, expire: expiresAt, email: user.email }
}

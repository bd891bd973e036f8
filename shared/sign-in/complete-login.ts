import { acceptSecondFactor, readUser, type User } from '../users/user.ts'
import { transact } from '../db/write.ts'
import { Failure } from '../errors.ts'
import { settings } from '../settings.ts'
import { signDeviceToken } from '../tokens/device-token.ts'
import { issueAccessToken } from '../tokens/access-token.ts'
import { scopes } from '../tokens/scopes.ts'
import { verifySecondFactor, type SecondFactor } from './verify-second-factor.ts'
import { normalizeEmail } from '../users/identity.ts'
import { consumeTicket, countTicketAttempt } from './login-ticket.ts'

/**
 * Ends a sign-in: the code is checked, and the ticket, and a TOTP's time step with it, are used up in the transaction
 * that makes the access_token work. Throws `bad_login_ticket` or `bad_verification_code`.
 */
export async function completeLogin(email: string, ticket: string, factor: SecondFactor) {
  const now = Date.now()
  const { userId, codeDigest } = await countTicketAttempt(ticket, normalizeEmail(email), now)
  const user = await readUser(userId, { consistent: true })
  if (user === undefined || user.disabled) throw new Failure('bad_login_ticket')
  const totpStep = await verifySecondFactor(user, ticket, codeDigest, factor, now)
  return issueTokens(user, ticket, totpStep)
}

async function issueTokens(user: User, ticket: string, totpStep: number | undefined) {
  const { firstPartyClientId: clientId, accessTokenTtlSeconds } = settings()
  const authenticatedAt = Date.now()
  // Whole seconds, so that `expire` and the `exp` of the device_token are the same instant.
  const expiresAt = (Math.floor(authenticatedAt / 1000) + accessTokenTtlSeconds) * 1000
  const grant = { userId: user.userId, clientId, scopes, expiresAt, authenticatedAt }
  const { accessToken, sessionId, put } = issueAccessToken({ ...grant, firstParty: true })
  // Signed first: a sign-in that cannot be signed uses nothing up. Nobody sees it unless the transaction goes through.
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

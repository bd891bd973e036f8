import { randomBytes } from 'node:crypto'
import * as v from 'valibot'
import { ConditionFailed, transact, type Write, writeItem } from '../../db/write.ts'
import { Failure } from '../../errors.ts'
import { Text } from '../../fields.ts'
import { log } from '../../log.ts'
import { settings } from '../../settings.ts'
import { issueAccessToken } from '../../tokens/access-token.ts'
import { signDeviceToken, tokenExpiry } from '../../tokens/device-token.ts'
import { scopes } from '../../tokens/scopes.ts'
import { EmailAddress } from '../../users/identity.ts'
import { normalizeEmail } from '../../users/normalize-email.ts'
import { networkDigest, sourceNetwork } from '../limits/source.ts'
import { countTries, secondsUntilBelow, tryAttribute } from '../limits/tries.ts'
import { acceptSecondFactor, codeCounter, type CodeStep, signInKey, SignInRecord } from '../record.ts'
import { claimedTicketUser, isMailedCode, maxTicketTries, SixDigits, ticketHash } from '../ticket.ts'
import { warnOwner } from '../warn-owner.ts'
import { decryptTotpSecret, verifyTotp } from './totp.ts'

const commonFields = { email: EmailAddress, login_ticket: Text(128) }

/** Schema of a second factor. `method` decides which of the two codes is required; the other is ignored. */
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
 * Maximum number of a user's wrong second factors in an hour, over all tickets. After that, further tries are
 * refused.
 */
const maxWrongCodes = 20

/**
 * Maximum number of wrong second factors that a user can enter in a row, however long it takes. After that,
 * tries are refused until the user has a new password or TOTP secret (NIST SP 800-63B-4 §3.2.2).
 */
const maxWrongInRow = 100

/**
 * Completes a sign-in. One transaction uses up the login ticket and a TOTP's time step, and makes the
 * access_token work. Throws `bad_login_ticket` or `bad_verification_code`. After too many wrong codes, throws
 * `too_many_requests` and warns the user by mail.
 */
export async function completeLogin(form: LoginVerifyForm, sourceIp: string) {
  const now = Date.now()
  const network = sourceNetwork(sourceIp)
  log.appendKeys({ source_network: network })
  const userId = claimedTicketUser(form.ticket)
  if (userId === undefined) throw new Failure('bad_login_ticket')
  const hash = ticketHash(form.ticket, normalizeEmail(form.email))
  const codeTry = { id: randomBytes(6).toString('base64url'), userId, ticketHash: hash, at: now }
  const record = await reserveCodeTry(codeTry)
  log.appendKeys({ user_id: userId })
  const tries = countTries(record, codeCounter, now)
  if (tries > maxWrongCodes || record.wrong_codes > maxWrongInRow) {
    throw await tooManyCodes((await giveBackCodeTry(codeTry)) ?? record, now)
  }
  try {
    const totpStep = await verifySecondFactor(record, hash, form, now)
    return await issueTokens(record, { ticketHash: hash, totpStep, network: networkDigest(network) })
  } catch (error) {
    const failure = error instanceof Failure ? error.failure : undefined
    const isLast = tries === maxWrongCodes || record.wrong_codes === maxWrongInRow
    if (failure === 'bad_verification_code' && isLast) throw await tooManyCodes(record, now)
    // A try stays counted if the code was wrong, or if the login ticket was no longer valid.
    if (failure !== 'bad_verification_code' && failure !== 'bad_login_ticket') await giveBackCodeTry(codeTry)
    throw error
  }
}

/** A try to pass the second factor. The login ticket keeps the try's id, so that no try is counted twice. */
interface CodeTry {
  id: string
  userId: number
  ticketHash: string
  /** When the try was counted, epoch milliseconds. */
  at: number
}

const tryNames = ({ id, ticketHash, at }: CodeTry) => ({
  '#ticket': ticketHash,
  '#try': id,
  '#code': tryAttribute(codeCounter, at),
})

/**
 * Counts a try for its login ticket and its user. Call this before comparing the code, or simultaneous
 * requests could together exceed a limit. Throws `bad_login_ticket`, and counts nothing, if the ticket is
 * unknown, expired or used up.
 */
async function reserveCodeTry(codeTry: CodeTry): Promise<SignInRecord> {
  const { id, userId, ticketHash, at } = codeTry
  const reserve: Write = {
    Update: {
      Key: signInKey(userId),
      UpdateExpression: 'SET tickets.#ticket.tried.#try = :true ADD #code :one, wrong_codes :one',
      ConditionExpression: [
        'tickets.#ticket.expires_at > :now',
        'size(tickets.#ticket.tried) < :max',
        'attribute_not_exists(tickets.#ticket.tried.#try)',
      ].join(' AND '),
      ExpressionAttributeNames: tryNames(codeTry),
      ExpressionAttributeValues: { ':true': true, ':one': 1, ':now': at, ':max': maxTicketTries },
    },
    isDone: (stored) =>
      stored !== undefined && (v.parse(SignInRecord, stored).tickets[ticketHash]?.tried[id] ?? false),
    otherwise: () => new Failure('bad_login_ticket'),
  }
  return v.parse(SignInRecord, await writeItem(reserve, { returnNew: true }))
}

/**
 * Takes back a counted try, and resolves with the changed record. If the login ticket no longer exists,
 * changes nothing and resolves with undefined.
 */
async function giveBackCodeTry(codeTry: CodeTry): Promise<SignInRecord | undefined> {
  const giveBack: Write = {
    Update: {
      Key: signInKey(codeTry.userId),
      UpdateExpression: 'REMOVE tickets.#ticket.tried.#try ADD #code :minusOne, wrong_codes :minusOne',
      ConditionExpression: 'attribute_exists(tickets.#ticket.tried.#try) AND #code >= :one',
      ExpressionAttributeNames: tryNames(codeTry),
      ExpressionAttributeValues: { ':one': 1, ':minusOne': -1 },
    },
  }
  try {
    return v.parse(SignInRecord, await writeItem(giveBack, { returnNew: true }))
  } catch (error) {
    if (error instanceof ConditionFailed) return undefined
    throw error
  }
}

/** Warns the user by mail about wrong second factors, and creates the Failure that the caller throws. */
async function tooManyCodes(record: SignInRecord, now: number): Promise<Failure> {
  const isClosed = record.wrong_codes >= maxWrongInRow
  await warnOwner(record, isClosed ? 'codes_closed' : 'wrong_codes', now)
  log.appendKeys({ limit: 'codes' })
  if (isClosed) return new Failure('too_many_requests', { retryAfterSeconds: 86_400 })
  const wait = secondsUntilBelow(record, codeCounter, { limit: maxWrongCodes, now })
  // `wait` can be 0, because other requests can lower the count.
  const retryAfterSeconds = Math.max(1, wait)
  return new Failure('too_many_requests', { retryAfterSeconds })
}

/**
 * Verifies a second factor. Throws `bad_verification_code` if the code is wrong or the method is not
 * enrolled. Resolves with the time step of a TOTP, which the caller must store as used.
 */
async function verifySecondFactor(
  { user_id, tickets, totp_secret, last_totp_step }: SignInRecord,
  hash: string,
  { ticket, method, code }: LoginVerifyForm,
  now: number,
): Promise<number | undefined> {
  if (method === 'EMAIL') {
    const digest = tickets[hash]?.code
    if (digest !== undefined && isMailedCode(ticket, code, digest)) return undefined
  } else if (totp_secret !== undefined) {
    const secret = await decryptTotpSecret(user_id, totp_secret)
    const step = await verifyTotp(secret, code, last_totp_step, now)
    if (step !== undefined) return step
  }
  throw new Failure('bad_verification_code')
}

async function issueTokens(user: SignInRecord, step: CodeStep) {
  const { firstPartyClientId: clientId } = settings()
  const authenticatedAt = Date.now()
  const expiresAt = tokenExpiry(authenticatedAt)
  const grant = { userId: user.user_id, clientId, scopes, expiresAt, authenticatedAt }
  const { accessToken, sessionId, put } = issueAccessToken({
    ...grant,
    firstParty: true,
    generation: user.generation,
  })
  // Signs the device_token before the write: if signing fails, the login ticket and the code stay unused.
  const deviceToken = await signDeviceToken({
    ...grant,
    sessionId,
    accessToken,
    email: user.email,
    nickname: user.nickname,
  })
  await transact([acceptSecondFactor(user, step, authenticatedAt), put])
  log.appendKeys({ session_id: sessionId })
  return { access_token: accessToken, device_token: deviceToken, expire: expiresAt, email: user.email }
}

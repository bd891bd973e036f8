import * as v from 'valibot'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { handler } from '../../../functions/user/login-2fa.ts'
import { settings } from '../../../shared/settings.ts'
import { checkAccessToken } from '../../../shared/tokens/access-token.ts'
import { scopes } from '../../../shared/tokens/scopes.ts'
import { callEndpoint, type TestAnswer } from '../../support/call-endpoint.ts'
import { expectRefusalWithoutCalls } from '../../support/expect-refusal.ts'
import { mailedCode } from '../../support/outbox.ts'
import { openTicket, verifyAuthenticator, verifyMailed } from '../../support/sign-in-calls.ts'
import {
  anotherCode,
  authenticatorCode,
  createUser,
  newUserId,
  type TestUser,
  wrongTotp,
} from '../../support/sign-in.ts'

const Details = v.object({
  // An access_token contains the ids of its user and session, and 256 random bits.
  access_token: v.pipe(v.string(), v.regex(/^at_[0-9a-z]+\.[\w-]{22}\.[\w-]{43}$/)),
  device_token: v.string(),
  expire: v.number(),
  email: v.string(),
})

let user: TestUser
let ticket: string

async function signInByPassword() {
  user = await createUser()
  ticket = await openTicket(user)
}

const wrong = { status: 401, code: 40103, data: null }
const dead = { status: 401, code: 40102, data: null }

describe('a valid code', () => {
  beforeEach(signInByPassword)

  test.each([
    [
      'an authenticator’s code',
      async () => verifyAuthenticator(user, ticket, await authenticatorCode(user.totpSecret)),
    ],
    ['a mailed code', async () => verifyMailed(user, ticket, await mailedCode(user.email))],
  ])('a sign-in with %s gives tokens with the full first-party scope', async (_what, verify) => {
    const answer = await verify()
    const { access_token, device_token, expire, email } = v.parse(Details, answer.data)
    expect(email).toBe(user.email)
    expect(await checkAccessToken(access_token, 'first-party')).toMatchObject({
      userId: user.userId,
      clientId: settings().firstPartyClientId,
      scopes,
      expiresAt: expire,
    })
    const claims = claimsOf(device_token)
    expect(claims).toMatchObject({
      sub: String(user.userId),
      aud: settings().firstPartyClientId,
      exp: expire / 1000,
      email: user.email,
      name: `User ${user.userId}`,
    })
    expect(expire - Date.now()).toBeGreaterThan((settings().accessTokenTtlSeconds - 60) * 1000)
  })

  test.each([
    ['capitals', (email: string) => email.toUpperCase()],
    ['spaces around it', (email: string) => ` ${email} `],
  ])('a second factor is accepted when the email address is written with %s', async (_how, spell) => {
    const code = await authenticatorCode(user.totpSecret)
    expect((await verifyAuthenticator({ email: spell(user.email) }, ticket, code)).code).toBe(0)
  })

  test('a TOTP that is sent with two login tickets at the same time succeeds once', async () => {
    const code = await authenticatorCode(user.totpSecret)
    const next = await openTicket(user)
    const codes = await Promise.all([ticket, next].map((one) => verifyAuthenticator(user, one, code)))
    expect(codes.map((answer) => answer.code).sort()).toEqual([0, 40103])
  })

  test.each([
    [
      'an authenticator’s code',
      async () => {
        const code = await authenticatorCode(user.totpSecret)
        return () => verifyAuthenticator(user, ticket, code)
      },
    ],
    [
      'a mailed code',
      async () => {
        const code = await mailedCode(user.email)
        return () => verifyMailed(user, ticket, code)
      },
    ],
  ])('%s, sent fifty times at once as second factor, succeeds only once', async (_what, prepare) => {
    const verify = await prepare()
    const answers = await Promise.all(Array.from({ length: 50 }, verify))
    expect(answers.filter((answer) => answer.code === 0)).toHaveLength(1)
    expect(answers.filter((answer) => answer.code !== 0).every(refused)).toBe(true)
  })

  test('a mailed code works only for the login ticket that it was mailed for', async () => {
    const first = await mailedCode(user.email)
    const next = await openTicket(user)
    const second = await mailedCode(user.email, 2)
    if (first === second) return
    expect(await verifyMailed(user, next, first)).toMatchObject(wrong)
    expect((await verifyMailed(user, next, second)).code).toBe(0)
  })

  test('a valid second factor is refused when the login ticket has expired', async () => {
    const later = Date.now() + settings().loginTicketTtlSeconds * 1000 + 1
    vi.useFakeTimers({ toFake: ['Date'], now: later })
    const code = await authenticatorCode(user.totpSecret, later)
    expect(await verifyAuthenticator(user, ticket, code)).toMatchObject(dead)
  })
})

describe('wrong codes', () => {
  beforeEach(signInByPassword)

  test('the fifth wrong second factor, counted over both methods, uses up the login ticket', async () => {
    const [right, mailed] = await Promise.all([authenticatorCode(user.totpSecret), mailedCode(user.email)])
    for (let i = 0; i < 3; i += 1)
      expect(await verifyAuthenticator(user, ticket, await wrongTotp(user.totpSecret))).toMatchObject(wrong)
    for (let i = 0; i < 2; i += 1)
      expect(await verifyMailed(user, ticket, anotherCode(mailed))).toMatchObject(wrong)
    expect(await verifyAuthenticator(user, ticket, right)).toMatchObject(dead)
  })

  test('of many codes at once for one login ticket, five are compared; then none, not even the right', async () => {
    const mailed = await mailedCode(user.email)
    const guesses = Array.from({ length: 30 }, () => verifyMailed(user, ticket, anotherCode(mailed)))
    const answers = await Promise.all(guesses)
    expect(answers.filter(({ code }) => code === 40103)).toHaveLength(5)
    expect(answers.filter(({ code }) => code === 40102)).toHaveLength(25)
    expect(await verifyMailed(user, ticket, mailed)).toMatchObject(dead)
  })

  test('wrong codes for a method that the user has not enrolled count as attempts on the login ticket', async () => {
    const bare = await createUser({ totp_secret: undefined })
    const own = await openTicket(bare)
    for (let i = 0; i < 5; i += 1) expect(await verifyAuthenticator(bare, own, '123456')).toMatchObject(wrong)
    expect(await verifyMailed(bare, own, await mailedCode(bare.email))).toMatchObject(dead)
  })

  test.each([
    ['an unknown ticket', () => verifyMailed(user, 'unknown', '123456')],
    ['another address', () => verifyMailed({ email: `other-${newUserId()}@example.com` }, ticket, '123456')],
  ])('wrong codes with %s do not count as attempts on the login ticket', async (_what, verify) => {
    for (let i = 0; i < 6; i += 1) expect(await verify()).toMatchObject(dead)
    expect((await verifyMailed(user, ticket, await mailedCode(user.email))).code).toBe(0)
  })

  test('codes that are not six digits do not count as attempts on the login ticket', async () => {
    for (let i = 0; i < 6; i += 1) {
      const body = { email: user.email, login_ticket: ticket, method: 'EMAIL', validate_code: 'wrong' }
      expect((await callEndpoint(handler, { body })).code).toBe(40001)
    }
    expect((await verifyMailed(user, ticket, await mailedCode(user.email))).code).toBe(0)
  })
})

describe('bad input', () => {
  const good = {
    email: 'alice@example.com',
    login_ticket: 'a ticket',
    method: 'EMAIL',
    validate_code: '123456',
  }
  test.each([
    ['no JSON', { text: 'method=EMAIL' }, 40000],
    ['no email', { body: { ...good, email: undefined } }, 40001],
    ['no ticket', { body: { ...good, login_ticket: undefined } }, 40001],
    ['an empty ticket', { body: { ...good, login_ticket: '' } }, 40001],
    ['a ticket that is too long', { body: { ...good, login_ticket: 'x'.repeat(129) } }, 40001],
    ['a ticket that is a number', { body: { ...good, login_ticket: 7 } }, 40001],
    ['no method', { body: { ...good, method: undefined } }, 40001],
    ['the method PASSKEY', { body: { ...good, method: 'PASSKEY' } }, 40001],
    ['a method in small letters', { body: { ...good, method: 'email' } }, 40001],
    ['the code of another method', { body: { ...good, method: 'AUTHENTICATOR' } }, 40001],
    ['no mailed code', { body: { ...good, validate_code: undefined } }, 40001],
    ['a code that is null', { body: { ...good, validate_code: null } }, 40001],
    ['a code that is a number', { body: { ...good, validate_code: 123456 } }, 40001],
    ['a code of five digits', { body: { ...good, validate_code: '12345' } }, 40001],
    ['a code of seven digits', { body: { ...good, validate_code: '1234567' } }, 40001],
    ['full-width digits', { body: { ...good, validate_code: '１２３４５６' } }, 40001],
    ['another media type', { text: '{}', headers: { 'content-type': 'application/xml' } }, 41500],
    ['64 KiB and one byte', { text: JSON.stringify(good).padEnd(65_537) }, 41300],
  ])(
    'a login-2fa request with %s is refused with its own error code, before any call to the table',
    (_what, request, code) => expectRefusalWithoutCalls(handler, request, code),
  )

  test.each([
    ['method', { ...good, method: 'PASSKEY' }],
    ['method', { ...good, method: undefined }],
    ['validate_code', { ...good, validate_code: undefined }],
    ['authenticator_code', { ...good, method: 'AUTHENTICATOR' }],
  ])('login-2fa names the invalid field %s', async (field, body) => {
    const { data } = await callEndpoint(handler, { body })
    expect(data).toMatchObject({ errors: [{ field }] })
  })
})

const refused = ({ code }: TestAnswer) => code === 40102 || code === 40103

const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>

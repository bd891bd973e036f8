import { EventBridgeClient, type PutEventsCommand } from '@aws-sdk/client-eventbridge'
import { argon2Sync, randomUUID } from 'node:crypto'
import * as v from 'valibot'
import { describe, expect, test, vi } from 'vitest'
import { handler } from '../../../functions/user/login-with-password.ts'
import { transact } from '../../../shared/db/write.ts'
import { generateMac, newestMacKey } from '../../../shared/aws/generate-mac.ts'
import { changeSignInRecord, readSignInRecord } from '../../../shared/sign-in/record.ts'
import { formatPhc } from '../../../shared/sign-in/password/digest.ts'
import { callEndpoint } from '../../support/call-endpoint.ts'
import { expectRefusalWithoutCalls } from '../../support/expect-refusal.ts'
import { measureCalls } from '../../support/measure-calls.ts'
import { mailedCode } from '../../support/outbox.ts'
import { login } from '../../support/sign-in-calls.ts'
import { createUser, md5, newSourceIp, type TestUser, update } from '../../support/sign-in.ts'

const methods = ({ data }: { data: unknown }) =>
  v.parse(v.object({ two_factor_methods: v.array(v.string()) }), data).two_factor_methods

describe('the right password', () => {
  test('the right password issues a login ticket and mails a code', async () => {
    const user = await createUser()
    const { status, code, data } = await login(user)
    expect({ status, code }).toEqual({ status: 200, code: 0 })
    expect(data).toEqual({
      need_two_factor: true,
      login_ticket: expect.stringMatching(/^lt_[0-9a-z]+\.[\w-]{43}$/) as string,
      email: user.email.replace(/^(.).*(.)@/, '$1***$2@'),
      two_factor_methods: ['EMAIL', 'AUTHENTICATOR'],
    })
    expect(await mailedCode(user.email)).toMatch(/^\d{6}$/)
  })

  test.each([
    ['capitals', (email: string) => email.toUpperCase()],
    ['spaces around it', (email: string) => `  ${email}\t`],
  ])('the right password is accepted when the email address is sent with %s', async (_how, spell) => {
    const user = await createUser()
    expect((await login({ ...user, email: spell(user.email) })).code).toBe(0)
  })

  test('the right password is accepted as MD5 in upper-case hexadecimal digits', async () => {
    const user = await createUser()
    expect((await login({ ...user, password: user.password.toUpperCase() })).code).toBe(0)
  })

  test('the answer to a right password lists the second factors that the user has enrolled', async () => {
    const [bare, keyed] = await Promise.all([
      createUser({ totp_secret: undefined }),
      createUser({ totp_secret: undefined }),
    ])
    await update({ user_id: keyed.userId, passkey: true })
    expect(methods(await login(bare))).toEqual(['EMAIL'])
    expect(methods(await login(keyed))).toEqual(['EMAIL', 'PASSKEY'])
  })

  test('the mailed code is delayed for a user who has an authenticator, and for nobody else', async () => {
    const send = vi.spyOn(EventBridgeClient.prototype, 'send')
    const requested = async (user: TestUser) => {
      await login(user)
      const { Entries = [] } = (send.mock.lastCall?.[0] as PutEventsCommand).input
      return Entries.map(({ DetailType }) => DetailType)
    }
    try {
      const keyed = await createUser({ totp_secret: undefined })
      await update({ user_id: keyed.userId, passkey: true })
      expect(await requested(await createUser())).toEqual(['mail.delayed'])
      expect(await requested(await createUser({ totp_secret: undefined }))).toEqual(['mail.requested'])
      expect(await requested(keyed)).toEqual(['mail.requested'])
    } finally {
      send.mockRestore()
    }
  })

  test('a user gets at most five mailed codes an hour, even with twelve simultaneous sign-ins', async () => {
    const [enrolled, bare] = await Promise.all([createUser(), createUser({ totp_secret: undefined })])
    const offers = (await Promise.all(Array.from({ length: 12 }, () => login(enrolled)))).map(methods)
    expect(offers.filter((offer) => offer.includes('EMAIL'))).toHaveLength(5)
    expect(offers.every((offer) => offer.includes('AUTHENTICATOR'))).toBe(true)

    for (let mail = 0; mail < 5; mail += 1) expect((await login(bare)).code).toBe(0)
    const refused = await login(bare)
    expect(refused).toMatchObject({ status: 429, code: 42900, data: null })
    const wait = Number(refused.headers['retry-after'])
    expect(wait).toBeGreaterThan(3_500)
    expect(wait).toBeLessThanOrEqual(3_600)
  })

  test('after an hour, a user can get codes by mail again', async () => {
    const user = await createUser({ totp_secret: undefined })
    for (let mail = 0; mail < 5; mail += 1) await login(user)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_001 })
    expect((await login(user)).code).toBe(0)
  })

  test('while no mail can be sent, only a user with an authenticator can sign in', async () => {
    const [enrolled, bare] = await Promise.all([createUser(), createUser({ totp_secret: undefined })])
    vi.stubEnv('EVENT_BUS_NAME', 'no-such-bus')
    expect(methods(await login(enrolled))).toEqual(['AUTHENTICATOR'])
    expect((await login(bare)).status).toBeGreaterThanOrEqual(500)
  })

  test('a sign-in replaces a password hash that has outdated parameters', async () => {
    const user = await createUser()
    const changes = { login_password: await outdatedHash(user.password) }
    await transact(changeSignInRecord(user.userId, changes, Date.now()))
    expect((await login(user)).code).toBe(0)
    const after = (await readSignInRecord(user.userId))?.login_password
    expect(after).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1,keyid=[\w-]+\$/)
    expect((await login(user)).code).toBe(0)
  })
})

// Of an unknown address, a wrong password, a disabled user and a user without a password.
test('every refusal of a password makes the same AWS calls before its answer 40101', async () => {
  const [wrong, disabled, without] = await Promise.all([
    createUser(),
    createUser(),
    createUser({ login_password: undefined }),
  ])
  await update({ user_id: disabled.userId, disabled: true })
  const tries = [
    { email: `nobody-${randomUUID()}@example.com`, password: md5('x') },
    { ...wrong, password: md5('x') },
    disabled,
    { ...without, password: md5('x') },
  ]
  const seen = []
  for (const attempt of tries) {
    let answer
    const { names } = await measureCalls(async () => {
      answer = await login(attempt)
    })
    expect(answer).toMatchObject({ status: 401, code: 40101, data: null })
    seen.push(names)
  }
  expect(seen).toEqual(Array(4).fill(['BatchGetItem', 'UpdateItem', 'UpdateItem', 'GenerateMac']))
})

describe('bad input', () => {
  const good = { email: 'alice@example.com', login_password: md5('x') }
  test.each([
    ['no JSON', { text: '{' }, 40000],
    ['no email', { body: { login_password: good.login_password } }, 40001],
    ['no password', { body: { email: good.email } }, 40001],
    ['an email that is a number', { body: { ...good, email: 7 } }, 40001],
    ['an email that is a list', { body: { ...good, email: [good.email] } }, 40001],
    ['an email that is not an address', { body: { ...good, email: 'alice' } }, 40001],
    ['an email that is too long', { body: { ...good, email: `${'a'.repeat(255)}@example.com` } }, 40001],
    ['a password that is no MD5', { body: { ...good, login_password: 'correct horse' } }, 40001],
    ['a password that is too short', { body: { ...good, login_password: '0'.repeat(31) } }, 40001],
    ['a password that is too long', { body: { ...good, login_password: '0'.repeat(33) } }, 40001],
    ['a password that is null', { body: { ...good, login_password: null } }, 40001],
    ['another media type', { text: 'email=a', headers: { 'content-type': 'text/plain' } }, 41500],
    ['64 KiB and one byte', { text: JSON.stringify({ ...good, pad: 'x' }).padEnd(65_537) }, 41300],
  ])(
    'a login-with-password request with %s is refused before any call to the table',
    (_what, request, code) => expectRefusalWithoutCalls(handler, request, code),
  )

  test('login-with-password ignores unknown fields of the body', async () => {
    const user = await createUser()
    const body = { email: user.email, login_password: user.password, admin: true }
    expect((await callEndpoint(handler, { body, sourceIp: newSourceIp() })).code).toBe(0)
  })
})

/** Hashes a password with weaker parameters than the current ones. */
async function outdatedHash(password: string): Promise<string> {
  const parameters = { memory: 8_192, passes: 1, parallelism: 1 }
  const keyId = newestMacKey()
  const salt = Buffer.alloc(16, 7)
  const message = await generateMac('password', password, keyId)
  const hash = argon2Sync('argon2id', { message, nonce: salt, tagLength: 32, ...parameters })
  return formatPhc({ ...parameters, keyId, salt, hash })
}

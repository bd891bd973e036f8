import { expect, test, vi } from 'vitest'
import { handler } from '../../../functions/intake/user.registered.ts'
import { readItem } from '../../../shared/db/read.ts'
import { readUser } from '../../../shared/users/user.ts'
import { eventRecord } from '../../../shared/events/event-record.ts'
import { RejectedEvent } from '../../../shared/events/rejected-event.ts'
import { readSignInRecord } from '../../../shared/sign-in/record.ts'
import { decryptTotpSecret } from '../../../shared/sign-in/code/totp.ts'
import { deliver, deliverBatch } from '../../support/deliver.ts'
import { createUser, newRegistration, newUserId, register } from '../../support/sign-in.ts'

const consistent = { consistent: true }

test('a registered user is stored with secrets hashed or encrypted', async () => {
  const { userId: referrerId } = await createUser()
  const detail = newRegistration({ referrer_id: referrerId })
  expect(await register(detail)).toBe('applied')
  const user = await readUser(Number(detail['user_id']), consistent)
  expect(user).toMatchObject({
    email: detail['email'],
    nickname: detail['nickname'],
    referrerId,
    registeredAt: detail['registered_at'],
  })
  const signIn = await readSignInRecord(Number(detail['user_id']))
  expect(signIn).toMatchObject({
    email: detail['email'],
    nickname: detail['nickname'],
    passkey: false,
    disabled: false,
  })
  expect(signIn?.login_password).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1,keyid=[\w-]+\$/)
  const stored = Buffer.from(signIn?.totp_secret ?? []).toString('latin1')
  expect(stored).not.toContain(detail['totp_secret'])
})

test('a stored TOTP secret can be decrypted for its own user only', async () => {
  const { userId, totpSecret } = await createUser()
  const ciphertext = (await readSignInRecord(userId))?.totp_secret ?? new Uint8Array()
  expect(await decryptTotpSecret(userId, ciphertext)).toBe(totpSecret)
  await expect(decryptTotpSecret(userId + 1, ciphertext)).rejects.toThrow()
})

// A plain hash would allow guessing the password.
test('the stored digest of a user.registered event is not a plain hash', async () => {
  const detail = newRegistration()
  await register(detail)
  const record = eventRecord('user.registered', String(detail['user_id']), detail)
  const stored = await readItem(
    { pk: `EVT#user.registered#${String(detail['user_id'])}`, sk: 'EVT' },
    consistent,
  )
  expect(stored).toBeDefined()
  expect(stored?.['digest']).not.toBe(record.digest)
})

test('a user can be registered without a password or an authenticator', async () => {
  const detail = newRegistration({ login_password: null, totp_secret: undefined })
  await register(detail)
  const signIn = await readSignInRecord(Number(detail['user_id']))
  expect([signIn?.login_password, signIn?.totp_secret]).toEqual([undefined, undefined])
})

test('a repeated user.registered event has no effect, even if its JSON members are in another order', async () => {
  const detail = newRegistration()
  await register(detail)
  const reversed = Object.fromEntries(Object.entries(detail).reverse())
  expect(await Promise.all([register(detail), register(reversed)])).toEqual(['duplicate', 'duplicate'])
})

test('a repeated user.registered event has no effect with secrets in another case', async () => {
  const detail = newRegistration()
  await register(detail)
  const login_password = String(detail['login_password']).toUpperCase()
  const totp_secret = String(detail['totp_secret']).toLowerCase()
  expect(await register({ ...detail, login_password, totp_secret })).toBe('duplicate')
})

test.each([
  ['in upper case', 'BÜCHER.example'],
  ['in ASCII', 'xn--bcher-kva.example'],
  ['with full-width letters', 'büche\uff52.example'],
])('a repeated user.registered event has no effect with the mail domain %s', async (_how, domain) => {
  const userId = newUserId()
  const detail = newRegistration({ user_id: userId, email: `user-${userId}@bücher.example` })
  await register(detail)
  expect(await register({ ...detail, email: `user-${userId}@${domain}` })).toBe('duplicate')
  expect((await readUser(userId, consistent))?.email).toBe(detail['email'])
})

test.each([
  ['another nickname', { nickname: 'Somebody' }],
  ['another address', { email: 'somebody@example.net' }],
  ['another password', { login_password: '0'.repeat(32) }],
  ['a referrer who is not registered', { referrer_id: 1 }],
])('registering a user again with %s is refused', async (_what, changed) => {
  const detail = newRegistration()
  await register(detail)
  await expect(register({ ...detail, ...changed })).rejects.toThrow(/^conflicting_content/)
  const user = await readUser(Number(detail['user_id']), consistent)
  expect(user).toMatchObject({ nickname: detail['nickname'], email: detail['email'] })
})

test.each([
  ['in another case', (email: string) => email.toUpperCase()],
  ['with spaces around it', (email: string) => ` ${email} `],
  ['in full-width letters', (email: string) => email.replace('User', '\uff35\uff33\uff25\uff32')],
])('registering another user’s email address %s is refused without a trace', async (_how, spell) => {
  const { email } = await createUser()
  const detail = newRegistration({ email: spell(email) })
  await expect(register(detail)).rejects.toThrow(/^email_taken/)
  expect(await readUser(Number(detail['user_id']), consistent)).toBeUndefined()
})

test('of ten simultaneous registrations of one email address, one succeeds', async () => {
  const email = `wanted-${newUserId()}@example.com`
  const results = await Promise.allSettled(
    Array.from({ length: 10 }, () => register(newRegistration({ email }))),
  )
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  const reasons = results.flatMap((result) =>
    result.status === 'rejected' ? [result.reason as unknown] : [],
  )
  expect(reasons.every((reason) => reason instanceof RejectedEvent)).toBe(true)
})

test('a user’s registration counts as out of order until the user’s referrer is registered', async () => {
  const referrerId = newUserId()
  const detail = newRegistration({ referrer_id: referrerId })
  await expect(register(detail)).rejects.toMatchObject({ code: 'unknown_referrer', mayPass: true })
  await createUser({ user_id: referrerId, email: `late-${referrerId}@example.com` })
  expect(await register(detail)).toBe('applied')
})

test('a registration that names the user as their own referrer is refused', async () => {
  const userId = newUserId()
  await expect(register(newRegistration({ user_id: userId, referrer_id: userId }))).rejects.toThrow(
    /^own_referrer/,
  )
})

test('the registrations of a batch that name each other as referrers are applied in order', async () => {
  // The longest pauses, with which ten registrations would not succeed if they were tried at the same time.
  vi.spyOn(Math, 'random').mockReturnValue(1)
  const [first = {}, ...others] = Array.from({ length: 11 }, newUserId).map((user_id, level, ids) =>
    newRegistration({ user_id, referrer_id: ids[level - 1], email: `${user_id}@example.com` }),
  )
  expect(await deliver(handler, first)).toBe('done')
  expect(new Set(await deliverBatch(handler, others))).toEqual(new Set(['done']))
})

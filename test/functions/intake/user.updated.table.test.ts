import fc from 'fast-check'
import { randomUUID } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { handler as userUpdated } from '../../../functions/intake/user.updated.ts'
import { queryFirst } from '../../../shared/db/read.ts'
import type { Key } from '../../../shared/db/table.ts'
import { transact, writeItem } from '../../../shared/db/write.ts'
import { readUser } from '../../../shared/users/user.ts'
import { readClient } from '../../../shared/oauth/client.ts'
import { consent } from '../../../shared/oauth/consent.ts'
import { handleTokenRequest } from '../../../shared/oauth/token-endpoint.ts'
import { addTicket, SignInRecordChanged } from '../../../shared/sign-in/password/open-ticket.ts'
import { readSignInRecord, signInKey } from '../../../shared/sign-in/record.ts'
import { attributesOf, tryAttribute } from '../../../shared/sign-in/limits/tries.ts'
import { updateStamp } from '../../../shared/registration/update.ts'
import { checkAccessToken, issueAccessToken } from '../../../shared/tokens/access-token.ts'
import { authorizationRequest, createClient, pkce } from '../../support/oauth-clients.ts'
import { addLoginTicket } from '../../support/login-tickets.ts'
import { openTicket, verifyAuthenticator, verifyMailed } from '../../support/sign-in-calls.ts'
import { deliver, deliverRedriven } from '../../support/deliver.ts'
import { actWhile } from '../../support/tamper-calls.ts'
import {
  authenticatorCode,
  createUser,
  md5,
  newRegistration,
  newUserId,
  register,
  update,
} from '../../support/sign-in.ts'

const read = (userId: number) => readUser(userId, { consistent: true })

/** Reads everything of a user that an update can change: the user's own item and the sign-in record. */
async function readAccount(userId: number) {
  const [user, signIn] = await Promise.all([read(userId), readSignInRecord(userId)])
  // Both items must have the same nickname and the same email address.
  expect(signIn).toMatchObject({ nickname: user?.nickname, email: user?.email })
  return { ...user, ...signIn }
}

/** An instant at which nobody had been updated yet. */
const early = 1_700_000_000_000

const stampOf = ({ at, update_id }: { at: number; update_id: string }) => updateStamp(at, at, update_id)

/** Random updates. They have only four different times, so that many have the same time. */
const updates = fc.array(
  fc.record(
    {
      at: fc.integer({ min: 1, max: 4 }).map((late) => early + late),
      nickname: fc.constantFrom('A', 'B', 'C'),
      passkey: fc.boolean(),
      disabled: fc.boolean(),
      mailbox: fc.constantFrom('one', 'two', 'THREE'),
    },
    { requiredKeys: ['at'] },
  ),
  { minLength: 1, maxLength: 6 },
)

test('of two updates of one user field, the later one wins, in whatever order and however often', async () => {
  await fc.assert(
    fc.asyncProperty(updates, fc.infiniteStream(fc.nat()), async (changes, order) => {
      const { userId, email } = await createUser({ login_password: undefined, totp_secret: undefined })
      const events = changes.map(({ mailbox, ...change }) => ({
        update_id: randomUUID(),
        user_id: userId,
        ...change,
        ...(mailbox === undefined ? {} : { email: `${mailbox}-${userId}@example.com` }),
      }))
      const arrivals = [...events, ...events].sort(() => (order.next().value % 2 === 0 ? 1 : -1))
      for (const event of arrivals) await update(event)

      const last = <Field extends 'nickname' | 'passkey' | 'disabled' | 'email'>(field: Field) =>
        events
          .filter((event) => event[field] !== undefined)
          .sort((a, b) => (stampOf(a) < stampOf(b) ? 1 : -1))[0]?.[field]
      expect(await readAccount(userId)).toMatchObject({
        nickname: last('nickname') ?? `User ${userId}`,
        passkey: last('passkey') ?? false,
        disabled: last('disabled') ?? false,
        email: last('email') ?? email,
      })
    }),
    { numRuns: 15 },
  )
})

test('simultaneous updates of different fields of a user all take effect', async () => {
  const { userId } = await createUser()
  const changes = [
    { nickname: 'New' },
    { passkey: true },
    { email: `new-${userId}@example.com` },
    { nickname: 'Old', at: early + 1 },
  ]
  await Promise.all(changes.map((change) => update({ user_id: userId, at: early + 2, ...change })))
  expect(await readAccount(userId)).toMatchObject({
    nickname: 'New',
    passkey: true,
    email: `new-${userId}@example.com`,
  })
})

test('changing a user’s email address frees the old one and reserves the new one', async () => {
  const { userId, email } = await createUser()
  const moved = `moved-${userId}@example.com`
  await update({ user_id: userId, email: moved })
  await expect(register(newRegistration({ email: moved }))).rejects.toThrow(/^email_taken/)
  expect(await register(newRegistration({ email }))).toBe('applied')
})

test('a user’s email address stays reserved when only the case of its letters changes', async () => {
  const { userId, email } = await createUser()
  await update({ user_id: userId, email: email.toUpperCase() })
  expect((await read(userId))?.email).toBe(email.toUpperCase())
  await expect(register(newRegistration({ email }))).rejects.toThrow(/^email_taken/)
})

test('a user update with another user’s email address changes nothing', async () => {
  const [{ userId, email }, other] = await Promise.all([createUser(), createUser()])
  const event = {
    update_id: randomUUID(),
    user_id: userId,
    at: early + 1,
    nickname: 'New',
    email: other.email,
  }
  await expect(update(event)).rejects.toThrow(/^email_taken/)
  expect(await readAccount(userId)).toMatchObject({ nickname: `User ${userId}`, email })
})

test('if three users change to the same email address at once, only one of them gets it', async () => {
  const users = await Promise.all([createUser(), createUser(), createUser()])
  const email = `wanted-${newUserId()}@example.com`
  const results = await Promise.allSettled(users.map(({ userId }) => update({ user_id: userId, email })))
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

test('a user update that reuses an update id with other content is refused', async () => {
  const { userId } = await createUser()
  const event = { update_id: randomUUID(), user_id: userId, at: early + 1, nickname: 'New' }
  await update(event)
  await expect(update({ ...event, nickname: 'Newer' })).rejects.toThrow(/^conflicting_content/)
  await expect(update({ ...event, user_id: newUserId() })).rejects.toThrow(/^conflicting_content/)
  expect((await read(userId))?.nickname).toBe('New')
})

test('a repeated user update has no effect with the mail domain in ASCII', async () => {
  const { userId } = await createUser()
  const event = {
    update_id: randomUUID(),
    user_id: userId,
    at: early + 1,
    email: `u${userId}@bücher.example`,
  }
  await update(event)
  expect(await update({ ...event, email: `u${userId}@xn--bcher-kva.example` })).toBe('duplicate')
  expect((await read(userId))?.email).toBe(event.email)
})

test('an update of a user who is not registered counts as out of order', async () => {
  const event = { update_id: randomUUID(), user_id: newUserId(), at: early + 1, nickname: 'New' }
  await expect(update(event)).rejects.toMatchObject({ code: 'unknown_user', mayPass: true })
})

test('a new TOTP secret clears the last used time step', async () => {
  const { userId } = await createUser()
  await change(signInKey(userId), 'SET last_totp_step = :value', 7)
  await update({ user_id: userId, totp_secret: 'JBSWY3DPEHPK3PXP' })
  expect((await readSignInRecord(userId))?.last_totp_step).toBeUndefined()
})

/** An update that ends all sessions and unfinished sign-ins of a user. */
interface Ending {
  disabled?: true
  login_password?: string
  totp_secret?: string
}
const endings: [what: string, fields: Ending][] = [
  ['disabling', { disabled: true }],
  ['a new password', { login_password: md5('a new password') }],
  ['a new TOTP secret', { totp_secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP' }],
]

// Sessions, access_tokens, login tickets and codes.
test.each(endings)(
  'when %s is applied, all that signs the user in ends at that instant',
  async (_what, fields) => {
    const user = await createUser()
    const { userId } = user
    const tokens = await Promise.all([openSession(userId), openSession(userId)])
    const [ticket, exchange] = [await openTicket(user), await obtainExchange(tokens[0])]
    const derived = (await (await obtainExchange(tokens[1]))()) as { access_token: string }
    tokens.push(derived.access_token)
    const ending = { update_id: randomUUID(), user_id: userId, at: early + 1, ...fields }
    let checks = 0
    await actWhile(
      'is answered',
      'TransactWriteCommand',
      async () => {
        checks += 1
        for (const token of tokens)
          for (const scope of ['openid', 'first-party'] as const)
            await expect(checkAccessToken(token, scope)).rejects.toMatchObject({ failure: 'unauthenticated' })
        const code = await authenticatorCode(fields.totp_secret ?? user.totpSecret)
        expect(await verifyAuthenticator(user, ticket, code)).toMatchObject({ status: 401, code: 40102 })
        await expect(exchange()).rejects.toMatchObject({ failure: 'invalid_grant' })
      },
      () => update(ending),
    )
    expect(checks).toBe(1)
    if (fields.disabled) return
    expect((await verifyMailed(user, await addLoginTicket(user, '123456'), '123456')).code).toBe(0)
  },
)

test.each(endings.slice(1))(
  'after %s, earlier wrong codes and warnings no longer keep the user from signing in',
  async (_what, fields) => {
    const user = await createUser()
    const key = signInKey(user.userId)
    for (const minutesAgo of [-1, 0, 30, 60])
      await change(key, 'SET #count = :value', 20, tryAttribute('code', Date.now() - minutesAgo * 60_000))
    await change(key, 'SET told.wrong_codes = :value', Date.now())
    await change(key, 'SET wrong_codes = :value', 100)
    const refused = await verifyMailed(user, await addLoginTicket(user, '123456'), '123456')
    expect(refused).toMatchObject({ status: 429 })
    await update({ user_id: user.userId, ...fields })
    const record = (await readSignInRecord(user.userId)) ?? expect.unreachable()
    expect(attributesOf(record, 'code')).toEqual([])
    expect(record.told).toEqual({})
    expect(record.wrong_codes).toBe(0)
    expect((await verifyMailed(user, await addLoginTicket(user, '123456'), '123456')).code).toBe(0)
  },
)

test('disabling and enabling a user does not clear the count of wrong codes', async () => {
  const user = await createUser()
  await change(signInKey(user.userId), 'SET #count = :value', 20, tryAttribute('code', Date.now()))
  for (const disabled of [true, false])
    await update({ user_id: user.userId, at: early + (disabled ? 1 : 2), disabled })
  const answer = await verifyMailed(user, await addLoginTicket(user, '123456'), '123456')
  expect(answer).toMatchObject({ status: 429 })
})

test.each([
  ['a new nickname', { nickname: 'New' }],
  ['a new passkey', { passkey: true }],
])('a user’s sessions and login tickets stay valid after %s', async (_what, fields) => {
  const user = await createUser()
  const token = await openSession(user.userId)
  const ticket = await openTicket(user)
  await update({ user_id: user.userId, ...fields })
  expect((await checkAccessToken(token, 'first-party')).userId).toBe(user.userId)
  const code = await authenticatorCode(user.totpSecret)
  expect((await verifyAuthenticator(user, ticket, code)).code).toBe(0)
})

test.each(endings)(
  'a sign-in gets no tokens if %s takes effect while the device_token is being signed',
  async (_what, fields) => {
    const user = await createUser()
    const ticket = await addLoginTicket(user, '123456')
    const change = () => update({ user_id: user.userId, ...fields })
    const answer = await actWhile('is sent', 'SignCommand', change, () =>
      verifyMailed(user, ticket, '123456'),
    )
    expect(answer).toMatchObject({ status: 401, code: 40102 })
    const tokens = {
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': `TOKENS#${user.userId}` },
    }
    expect(await queryFirst(tokens, 1)).toEqual([])
  },
)

test.each(endings.slice(0, 2))(
  'a sign-in leaves no login ticket if %s takes effect during the password check',
  async (_what, fields) => {
    const user = await createUser()
    const before = (await readSignInRecord(user.userId)) ?? expect.unreachable()
    await update({ user_id: user.userId, ...fields })
    const ticket = { hash: 'hash', expiresAt: Date.now() + 60_000, codeDigest: undefined, network: 'network' }
    const step = { reservedAt: Date.now(), ticket, mails: undefined, newHash: undefined }
    await expect(addTicket(before, step, Date.now())).rejects.toThrow(SignInRecordChanged)
    expect((await readSignInRecord(user.userId))?.tickets).toEqual({})
  },
)

test('a late or repeated disabling does not end sessions of a user who has since been enabled again', async () => {
  const { userId } = await createUser()
  const disabling = { update_id: randomUUID(), user_id: userId, at: early + 1, disabled: true }
  await update(disabling)
  await update({ user_id: userId, at: early + 3, disabled: false })
  const token = await openSession(userId)
  await update(disabling)
  await update({ user_id: userId, at: early + 2, disabled: true })
  expect((await checkAccessToken(token, 'first-party')).userId).toBe(userId)
})

/** Uses an access_token to obtain an authorization code. Returns a function that exchanges the code. */
async function obtainExchange(accessToken: string): Promise<() => Promise<unknown>> {
  const client = await createClient()
  const { verifier, challenge } = pkce()
  const request = authorizationRequest(client, { code_challenge: challenge })
  const caller = await checkAccessToken(accessToken, 'first-party')
  const registered = await readClient(client.clientId)
  const { code } = await consent(request, true, registered, caller)
  const form = { code, redirect_uri: client.redirectUri, code_verifier: verifier }
  const parameters = { ...form, grant_type: 'authorization_code', client_id: client.clientId }
  return () => handleTokenRequest(parameters, { authorization: () => undefined })
}

async function openSession(userId: number): Promise<string> {
  const now = Date.now()
  const { generation = 0 } = (await readSignInRecord(userId)) ?? {}
  const { accessToken, put } = issueAccessToken({
    userId,
    generation,
    clientId: 'first-party',
    scopes: ['openid'],
    firstParty: true,
    expiresAt: now + 60_000,
    authenticatedAt: now,
  })
  await transact([put])
  return accessToken
}

const change = (key: Key, expression: string, value: unknown, count?: string) =>
  writeItem({
    Update: {
      Key: key,
      UpdateExpression: expression,
      ExpressionAttributeValues: { ':value': value },
      ...(count !== undefined && { ExpressionAttributeNames: { '#count': count } }),
    },
  })

test('only an update whose fields all have later updates is recorded as overtaken', async () => {
  const { userId } = await createUser()
  const change = (late: number, fields: object) => update({ user_id: userId, at: early + late, ...fields })
  expect(await change(5, { nickname: 'New' })).toBe('applied')
  expect(await change(4, { nickname: 'Old' })).toBe('overtaken')
  expect(await change(4, { nickname: 'Old', passkey: true })).toBe('applied')
  const again = { update_id: randomUUID(), user_id: userId, at: early + 3, nickname: 'Older' }
  expect([await update(again), await update(again)]).toEqual(['overtaken', 'duplicate'])
})

test('an update of a sender whose clock is ahead does not hide those that arrive after it', async () => {
  const { userId } = await createUser()
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
  const change = (at: number, fields: object) =>
    deliver(userUpdated, { update_id: randomUUID(), user_id: userId, at, ...fields })
  expect(await change(Date.now() + 240_000, { nickname: 'First', disabled: false })).toBe('done')
  vi.setSystemTime(Date.now() + 1_000)
  expect(await change(Date.now(), { disabled: true })).toBe('done')
  // One that was ahead when it came still counts as of then when it is redriven after its instant.
  const event = { update_id: randomUUID(), user_id: userId, at: Date.now() + 240_000, nickname: 'Second' }
  const envelope = { time: new Date(Date.now()).toISOString() }
  vi.setSystemTime(Date.now() + 60_000)
  expect(await change(Date.now(), { nickname: 'Third' })).toBe('done')
  vi.setSystemTime(Date.now() + 600_000)
  expect(await deliverRedriven(userUpdated, event, envelope)).toBe('done')
  vi.useRealTimers()
  expect(await readAccount(userId)).toMatchObject({ nickname: 'Third', disabled: true })
})

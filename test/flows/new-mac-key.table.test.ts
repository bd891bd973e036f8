import { CreateKeyCommand } from '@aws-sdk/client-kms'
import { randomUUID } from 'node:crypto'
import { afterAll, expect, it } from 'vitest'
import { handler as clientRegistered } from '../../functions/intake/client.registered.ts'
import { kms } from '../../shared/aws/kms.ts'
import { authenticateClient } from '../../shared/oauth/client-authentication.ts'
import { readSignInRecord } from '../../shared/sign-in/record.ts'
import { applyEvent } from '../support/apply-event.ts'
import { measureCalls } from '../support/measure-calls.ts'
import { login } from '../support/sign-in-calls.ts'
import { createUser, md5, newRegistration, register, toTestUser, update } from '../support/sign-in.ts'

// These tests follow "A new MAC key" in infra/RUNBOOK.md. Each step deploys different `MAC_KEY_IDS`.
const older = process.env['MAC_KEY_IDS'] ?? ''
const hmac = { KeySpec: 'HMAC_256', KeyUsage: 'GENERATE_VERIFY_MAC', MultiRegion: true } as const
const { KeyMetadata: made } = await kms.send(new CreateKeyCommand(hmac))
const newer = made?.Arn ?? ''
const deploy = (...keys: string[]) => void (process.env['MAC_KEY_IDS'] = keys.join())
afterAll(() => deploy(older))

const stored = async (userId: number) => (await readSignInRecord(userId))?.login_password ?? ''
const keyOf = (hash: string) => (hash.includes(`,keyid=${newer.split('/')[1]}$`) ? 'newer' : 'older')
const refused = { status: 401, code: 40101 }
const callsOf = async (attempt: Parameters<typeof login>[0]) =>
  (await measureCalls(async () => expect(await login(attempt)).toMatchObject(refused))).names

it('the next sign-in after a new MAC key rehashes the password with it, without a further write', async () => {
  deploy(older)
  const user = await createUser()
  deploy(older, newer)
  expect((await login(user)).code).toBe(0)
  expect(keyOf(await stored(user.userId))).toBe('older')
  deploy(newer, older)
  const moving = await measureCalls(async () => expect((await login(user)).code).toBe(0))
  expect(keyOf(await stored(user.userId))).toBe('newer')
  const later = await measureCalls(async () => expect((await login(user)).code).toBe(0))
  expect([moving.writeUnits, moving.names.length]).toEqual([later.writeUnits, later.names.length + 1])
  // Old and new versions of a function run side by side during a deployment. All must accept the password.
  for (const keys of [[older, newer], [newer, older], [newer]]) {
    deploy(...keys)
    expect((await login(user)).code, String(keys)).toBe(0)
  }
})

it('a refused sign-in makes the same AWS calls whatever the reason, a removed MAC key included', async () => {
  deploy(older)
  const user = await createUser()
  deploy(newer, older)
  const wrong = { ...user, password: md5('x') }
  const calls = await callsOf({ ...wrong, email: `nobody-${randomUUID()}@example.com` })
  expect(await callsOf(wrong)).toEqual(calls)
  deploy(newer)
  expect(await callsOf(user), 'the right password').toEqual(calls)
  await update({ user_id: user.userId, login_password: user.password })
  expect((await login(user)).code).toBe(0)
})

it('while both MAC keys are deployed, a client registered with the old key can authenticate', async () => {
  deploy(older)
  const secret = 'a client secret of 34 characters!!'
  const client = { client_id: `client-${randomUUID()}`, name: 'A client', secret }
  const registered = { ...client, redirect_uris: [], scopes: [] }
  const authentic = () =>
    authenticateClient({ clientIds: [client.client_id], secrets: [secret], basic: true })
  await applyEvent(clientRegistered, { ...registered, updated_at: 1_700_000_000_001 })
  deploy(newer, older)
  await authentic()
  // Registered again, it no longer needs the old key.
  await applyEvent(clientRegistered, { ...registered, updated_at: 1_700_000_000_002 })
  deploy(newer)
  await authentic()
})

it('while both MAC keys are deployed, a repeated event is recognized', async () => {
  deploy(older)
  const detail = newRegistration()
  await register(detail)
  deploy(newer, older)
  expect(await register(detail)).toBe('duplicate')
  deploy(newer)
  await expect(register(detail)).rejects.toThrow('conflicting_content')
  expect(await login(toTestUser(detail))).toMatchObject(refused)
})

import { DisableRuleCommand, EnableRuleCommand, EventBridgeClient } from '@aws-sdk/client-eventbridge'
import { createHash, randomInt, randomUUID } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generate } from 'otplib'
import { describe, expect, it } from 'vitest'
import { checkRules } from '../../../infra/ops/doctor/rules.ts'
import { formatInstant } from '../../../infra/ops/terminal.ts'
import { findUser } from '../../../infra/ops/users.ts'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { requireEnv } from '../../../shared/env.ts'
import { readAddresses } from '../../../shared/deposits/deposit-address.ts'
import { readClient } from '../../../shared/oauth/client.ts'
import { decryptTotpSecret } from '../../../shared/sign-in/code/totp.ts'
import { putEvents } from '../../support/put-event.ts'
import { useLocalStack } from '../../support/local-stack.ts'
import { ops } from './run-ops.ts'

const newUserId = () => randomInt(1, 2 ** 40)
const json = async (commandLine: string[], input?: string) => {
  const { code, out, err } = await ops([...commandLine, '--json'], input)
  expect(code, err).toBe(0)
  return JSON.parse(out) as Record<string, unknown>
}
const temporary = (text: string) => {
  const file = join(mkdtempSync(join(tmpdir(), 'ops-')), 'input')
  writeFileSync(file, text)
  return file
}

async function addUser(...options: string[]) {
  const id = newUserId()
  const email = `user-${id}@example.com`
  const added = await json(
    ['user', 'add', '--id', String(id), '--email', email, '--nickname', 'N', ...options],
    'a password\n',
  )
  return { id, email, added }
}

describe('user', () => {
  it('user add registers a user who can sign in with password and authenticator', async () => {
    const { id, email, added } = await addUser('--password-stdin', '--totp')
    const { base_url: baseUrl } = await useLocalStack()
    const post = async (path: string, body: object) => {
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(baseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) })
      return (await response.json()) as { code: number; data: Record<string, string> }
    }
    const login_password = createHash('md5').update('a password').digest('hex')
    const { data } = await post('/user/login-with-password', { email, login_password })
    const authenticator_code = await generate({ secret: String(added['totp_secret']) })
    const verified = await post('/user/login/2fa', {
      email,
      login_ticket: data['login_ticket'],
      method: 'AUTHENTICATOR',
      authenticator_code,
    })
    expect(verified.code).toBe(0)
    expect(await json(['user', 'show', email])).toEqual({
      user_id: id,
      email,
      nickname: 'N',
      disabled: false,
      password: true,
      authenticator: true,
      passkey: false,
      referrer_id: null,
      registered_at: expect.any(Number) as number,
    })
  })

  it('user totp shows a QR code and the secret that is stored', async () => {
    const { id } = await addUser()
    const { code, out } = await ops(['user', 'totp', String(id)])
    expect(code).toBe(0)
    expect(out).toContain('█▀▀▀▀▀▀▀█')
    const secret = /typing: ([A-Z2-7]+)/.exec(out)?.[1]
    const { totpSecret = expect.unreachable() } = (await findUser(String(id))).signIn
    expect(await decryptTotpSecret(id, totpSecret)).toBe(secret)
  })

  it('user disable disables a user, and --undo enables them again', async () => {
    const { id, email } = await addUser()
    await json(['user', 'disable', email])
    expect(await json(['user', 'show', String(id)])).toMatchObject({ disabled: true })
    await json(['user', 'disable', String(id), '--undo'])
    expect(await json(['user', 'show', String(id)])).toMatchObject({ disabled: false })
  })

  it('a user command says that it is done although a later update stands', async () => {
    const { id } = await addUser('--totp')
    const later = Date.now() + 240_000
    const updates = ['disabled', 'totp_secret'].map((field) => ({
      update_id: randomUUID(),
      user_id: id,
      at: later,
      [field]: field === 'disabled' ? false : 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
    }))
    await putEvents('user.updated', updates)
    const stamps = async () => Object.keys((await findUser(String(id))).stamps)
    await expect.poll(stamps, { timeout: 20_000 }).toHaveLength(2)
    for (const [command, field] of [
      ['disable', 'disabled'],
      ['totp', 'totp_secret'],
    ] as const) {
      const { code, out, err } = await ops(['user', command, String(id)])
      expect({ code, out }).toEqual({ code: 1, out: '' })
      expect(err).toBe(
        `nothing has changed: an update of ${field} of user ${id} at ${formatInstant(later)} is later`,
      )
    }
    expect(await json(['user', 'show', String(id)])).toMatchObject({ disabled: false })
  })

  it('a user command whose event is rejected or whose user is unknown exits 1 with the reason', async () => {
    const { id } = await addUser()
    const again = ['user', 'add', '--id', String(id), '--email', 'x@example.com', '--nickname', 'N']
    expect(await ops(again)).toMatchObject({ code: 1, err: `user ${id} is registered already` })
    const bad = ['user', 'add', '--id', String(newUserId()), '--email', 'no address', '--nickname', 'N']
    const refused = await ops(bad)
    expect(refused.code).toBe(1)
    expect(refused.err).toContain('refused: invalid_detail: email')
    expect(await ops(['user', 'show', 'nobody@example.com'])).toMatchObject({ code: 1 })
  })
})

it('client list shows a client that client add registered, without its secret', async () => {
  const clientId = `client-${randomUUID()}`
  const add = ['client', 'add', clientId, '--redirect-uri', 'https://a.example/cb', '--secret-stdin']
  const short = await ops(add, 'a short secret\n')
  expect(short).toMatchObject({ code: 1 })
  expect(short.err).toContain('refused: invalid_detail: secret must be 32 to 512 printable ASCII characters')
  expect(await readClient(clientId)).toBeUndefined()
  const secret = 'a client secret of 34 characters!!'
  await json([...add, '--scope', 'openid', 'email'], `${secret}\n`)
  expect((await readClient(clientId))?.secretMac).toBeDefined()
  const { clients } = await json(['client', 'list'])
  expect(clients).toContainEqual({
    client_id: clientId,
    name: clientId,
    confidential: true,
    redirect_uris: ['https://a.example/cb'],
    scopes: ['openid', 'email'],
    updated_at: expect.any(Number) as number,
  })
  expect((await ops(['client', 'list'])).out).not.toContain(secret)
})

it('addresses import adds the addresses of a file only once', async () => {
  const network = `N${randomInt(1e9)}`
  const file = temporary('T1,7\n\nT2\nT3\n')
  const load = [
    'addresses',
    'import',
    file,
    '--currency',
    'USDT',
    '--network',
    network,
    '--confirmations',
    '3',
  ]
  expect(await json(load)).toEqual({ imported: 3 })
  const imported = await readAddresses(['T2', 'T3'].map((address) => ({ network, address })))
  expect(imported).toHaveLength(2)
  expect(await json(load)).toEqual({ imported: 3 })
})

it('doctor proves each part of a healthy stack that only a deployment can prove', async () => {
  const { out } = await ops(['doctor'])
  for (const line of ['ok    API', 'ok    signing keys', 'ok    functions']) expect(out).toContain(line)
  expect(out).toContain('ok    challenge: a 401 carries www-authenticate: Bearer')
  expect(out).toMatch(/^ok {4}password digest: a wrong password is answered 40101 in \d+ ms$/m)
  expect(out).toMatch(/^ok {4}rules: all \d+ schedules and \d+ rules for events are enabled$/m)
  expect(out).toMatch(/^ok {4}mail: SES sends from \S+@\S+, by its identity/m)
})

it('doctor names a schedule that is switched off, and rules that are missing', async () => {
  const events = new EventBridgeClient(clientOptions())
  await events.send(new DisableRuleCommand({ Name: 'verify-ledger' }))
  try {
    const { code, out } = await ops(['doctor'])
    expect(code).toBe(1)
    expect(out).toContain('FAIL  rules: verify-ledger is DISABLED')
  } finally {
    await events.send(new EnableRuleCommand({ Name: 'verify-ledger' }))
  }
  const missing = await checkRules({ namePrefix: 'other-', eventBusName: requireEnv('EVENT_BUS_NAME') })
  expect(missing.words).toContain('other-verify-ledger is MISSING')
})

describe('wrong command lines', () => {
  it.each([
    ['nonsense'],
    ['user show'],
    ['user add --id 1'],
    ['user add --id x --email a@example.com --nickname N'],
    ['dlq show nothing'],
    ['dlq drop user.registered'],
    ['event put /no/such/file'],
    ['keys audit --previous /no/such/file'],
    ['keys rotate --revoke-old'],
    ['doctor --unknown'],
    ['--stage nowhere doctor'],
  ])('the command line "%s" exits 2 for wrong usage', async (text) => {
    expect(await ops(text.split(' '))).toMatchObject({ code: 2, out: '' })
  })
})

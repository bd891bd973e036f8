import { DisableRuleCommand, EnableRuleCommand, EventBridgeClient } from '@aws-sdk/client-eventbridge'
import { expect, it } from 'vitest'
import { clientOptions } from '../../../shared/aws/client-options.ts'
import { createUser } from '../../support/sign-in.ts'
import { ops } from './run-ops.ts'

it('`user show` shows a user by id and by address, without their secrets', async () => {
  const { userId, email } = await createUser()
  for (const reference of [email, String(userId)]) {
    const { code, out } = await ops(['user', 'show', reference, '--json'])
    expect({ code, ...(JSON.parse(out) as object) }).toEqual({
      code: 0,
      user_id: userId,
      email,
      nickname: expect.any(String) as string,
      disabled: false,
      password: true,
      authenticator: true,
      passkey: false,
      referrer_id: null,
      registered_at: expect.any(Number) as number,
    })
  }
  expect(await ops(['user', 'show', 'nobody@example.com'])).toMatchObject({
    code: 1,
    err: 'there is no user nobody@example.com',
  })
})

const consultDoctor = async () => {
  const { code, out } = await ops(['doctor', '--json'])
  const { checks } = JSON.parse(out) as { checks: { check: string; ok: boolean; words: string }[] }
  const rows = checks.map(({ check, ok, words }) => [check, `${ok ? 'ok' : 'FAIL'}: ${words}`])
  return { code, found: Object.fromEntries(rows) as Record<string, string> }
}

it('doctor reports ok for the API, signing keys, challenge, password digest and mail of a working stack', async () => {
  const { found } = await consultDoctor()
  for (const check of ['API', 'signing keys']) expect(found[check]).toMatch(/^ok/)
  expect(found['challenge']).toBe(
    'ok: a request without a token is answered 401 with www-authenticate: Bearer',
  )
  expect(found['password digest']).toMatch(/^ok: a wrong password is answered 40101 in \d+ ms$/)
  expect(found['mail']).toMatch(/^ok: SES sends from \S+@\S+, by its identity/)
})

it('doctor reports that a schedule is switched off', async () => {
  const events = new EventBridgeClient(clientOptions())
  await events.send(new DisableRuleCommand({ Name: 'verify-ledger' }))
  try {
    const { code, found } = await consultDoctor()
    expect(code).toBe(1)
    expect(found['maintenance']).toBe('FAIL: requests: running, events: running, schedules: changing')
  } finally {
    await events.send(new EnableRuleCommand({ Name: 'verify-ledger' }))
  }
})

it.each([
  ['nonsense'],
  ['user show'],
  ['ledger verify --user 9007199254740992'],
  ['dlq show nothing'],
  ['dlq drop user.registered'],
  ['dlq drop user.registered --yes'],
  ['event put /no/such/file'],
  ['event put /tmp'],
  ['keys audit --previous /no/such/file'],
  ['doctor --unknown'],
  ['event replay --from 2999-01-01T00:00:00Z'],
  ['event replay --from 2026-11-22T12:00:00Z --to 2026-11-22T12:00:00Z'],
  ['restore prepare --hour 2999-01-01T00:00:00Z'],
  ['--stage nowhere doctor'],
])('the command line "%s" exits with code 2 for wrong usage', async (text) => {
  expect(await ops(text.split(' '))).toMatchObject({ code: 2, out: '' })
})

it.each([
  [['dlq', 'show', '']],
  [['dlq', 'show', 'user.registered', '--reason', '']],
  [['dlq', 'drop', 'user.registered', '--unsaved', '--yes', '--reason=']],
  [['keys', 'rotate', '--by', '']],
  [['--table', '', 'ledger', 'verify']],
])('the command line %j, which has an empty text, exits with code 2 for wrong usage', async (commandLine) => {
  expect(await ops(commandLine)).toMatchObject({ code: 2, out: '' })
})

it('an error about a table that does not exist names the table', async () => {
  expect((await ops(['--table', 'nowhere', 'user', 'show', '1'])).err).toContain('table: nowhere')
})

// Otherwise npm’s own lines would get into the file.
it('in the help, an example that redirects its output uses npm with --silent', async () => {
  const { out } = await ops(['keys', 'audit', '--help'])
  expect(out).toContain('npm run --silent ops -- --json keys audit >')
})

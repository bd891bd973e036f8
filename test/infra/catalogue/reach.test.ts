import { beforeAll, describe, expect, it } from 'vitest'
import { describeReach } from '../../../infra/catalogue/reach.ts'
import { endpointFunctions } from '../../../infra/endpoint-functions.ts'
import { events } from '../../../infra/events.ts'
import { schedules, workers } from '../../../infra/workers-and-schedules.ts'

let rows: Map<string, string>

beforeAll(async () => {
  const lines = (await describeReach()).split('\n').slice(2)
  rows = new Map(lines.map((line) => [/`([^`]+)`/.exec(line)?.[1] ?? '', line]))
})

describe('the table of what captured functions could do', () => {
  it('the table has a row for every function', () => {
    const names = [
      ...endpointFunctions().map(({ entry }) => entry.replaceAll('/', '-')),
      ...events.map(({ detailType }) => `intake-${detailType.replaceAll('.', '-')}`),
      ...workers.map(({ name }) => `worker-${name}`),
      ...schedules.map(({ name }) => name),
      'delete-signing-keys',
      'fallback',
    ]
    expect([...rows.keys()].sort()).toEqual(names.sort())
  })

  it('the table names every resource in words, so that nothing is left out', () => {
    for (const row of rows.values()) expect(row).not.toContain('Fn::')
  })

  it.each([
    ['oauth2-token', 'issue tokens for any user'],
    ['user-login-2fa', 'issue tokens for any user'],
    ['oauth2-exchange', 'sign tokens'],
    ['rotate-signing-keys', 'publish keys in the JWKS'],
    ['intake-deposit-updated', 'move money'],
    ['intake-client-registered', 'register clients'],
    ['intake-mail-requested', 'mail anyone as the service'],
    ['intake-mail-delayed', 'read password digests and encrypted TOTP secrets'],
    ['user-login-with-password', 'have a code or a warning mailed to anyone'],
  ])('captured, %s could %s', (name, power) => {
    expect(rows.get(name)).toContain(power)
  })
})

import { expect, it } from 'vitest'
import { describeReach } from '../../../infra/catalogue/reach.ts'

it.each([
  ['oauth2-token', 'issue tokens for any user'],
  ['oauth2-exchange', 'sign tokens'],
  ['rotate-signing-keys', 'publish keys in the JWKS'],
  ['intake-deposit-updated', 'move money'],
  ['intake-client-registered', 'register clients'],
  ['intake-mail-requested', 'mail anyone as the service'],
  ['intake-mail-delayed', 'read password digests and encrypted TOTP secrets'],
  ['user-login-with-password', 'have a code or a warning mailed to anyone'],
])('captured, %s could %s', (name, power) => {
  const row = describeReach()
    .split('\n')
    .find((line) => line.startsWith(`| \`${name}\` |`))
  expect(row).toContain(power)
})

import { expect, test } from 'vitest'
import { hashClientSecret, isClientSecret } from '../../../shared/oauth/client-authentication.ts'

test('a secret is known again by its hash, which does not hold it', () => {
  const stored = hashClientSecret('a secret, with (signs)')
  expect(stored).not.toContain('secret')
  expect(isClientSecret('a secret, with (signs)', stored)).toBe(true)
})

test.each(['', 'A secret', 'a secret ', 'b'.repeat(600)])('%j is not the secret', (secret) => {
  expect(isClientSecret(secret, hashClientSecret('a secret'))).toBe(false)
})

test('equal secrets are stored differently, so that a table does not tell who shares one', () => {
  expect(hashClientSecret('a secret')).not.toBe(hashClientSecret('a secret'))
})

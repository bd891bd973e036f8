import { expect, test } from 'vitest'
import { hashClientSecret, isClientSecret } from '../../../shared/oauth/client-authentication.ts'

test('the stored hash of a client secret matches the secret and does not contain it', () => {
  const stored = hashClientSecret('a secret, with (signs)')
  expect(stored).not.toContain('secret')
  expect(isClientSecret('a secret, with (signs)', stored)).toBe(true)
})

test.each(['', 'A secret', 'a secret ', 'b'.repeat(600)])(
  'a client secret’s hash does not match the other secret %j',
  (secret) => {
    expect(isClientSecret(secret, hashClientSecret('a secret'))).toBe(false)
  },
)

test('the same client secret is hashed with a new salt each time', () => {
  expect(hashClientSecret('a secret')).not.toBe(hashClientSecret('a secret'))
})

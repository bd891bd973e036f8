import { KMSClient } from '@aws-sdk/client-kms'
import { createHash } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { isClientSecret, macClientSecret } from '../../../shared/oauth/client-secret.ts'

const secret = 'a secret of exactly 32 character'

test('the stored MAC of a client secret matches the secret and shows neither it nor its digest', async () => {
  const stored = await macClientSecret('shop', secret)
  expect(stored).toMatch(/^[A-Za-z0-9_-]{43}$/)
  expect(stored).not.toBe(createHash('sha256').update(secret).digest('base64url'))
  expect(await isClientSecret('shop', secret, stored)).toBe(true)
})

test.each(['', `A${secret.slice(1)}`, `${secret} `, secret.slice(1), 'b'.repeat(600)])(
  'a client secret’s MAC does not match the other secret %j',
  async (other) => {
    expect(await isClientSecret('shop', other, await macClientSecret('shop', secret))).toBe(false)
  },
)

test('a client secret’s MAC does not match the same secret of another client', async () => {
  expect(await isClientSecret('other', secret, await macClientSecret('shop', secret))).toBe(false)
})

test('a text that is no client secret is refused without a call of KMS', async () => {
  const send = vi.spyOn(KMSClient.prototype, 'send')
  for (const text of ['', 'short', 'b'.repeat(513), `${secret}\n`]) {
    expect(await isClientSecret('shop', text, 'anything')).toBe(false)
  }
  expect(send).not.toHaveBeenCalled()
  send.mockRestore()
})

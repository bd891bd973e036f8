import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import { call, eventually } from './call.ts'
import { ops } from './ops.ts'
import { type SignedIn, signerOf, verifyDeviceToken } from './sign-in.ts'

const Exchanged = v.object({ device_token: v.string() })
/** Maximum wait. KMS can refuse a new key for 5 minutes, and functions cache the old one for 1 minute. */
const takeOver = { maxMilliseconds: 600_000 }

/**
 * Replaces the signing key at once, waits until tokens are signed with the new key, and checks that a token
 * signed with the old key is still valid.
 */
export async function rotate({ token, deviceToken }: SignedIn, target: string[]): Promise<void> {
  const old = signerOf(deviceToken)
  await ops([...target, 'keys', 'rotate', '--emergency', '--by', 'deployment test'])
  await eventually(async () => {
    const exchanged = await call('/oauth2/authorize', { body: { access_token: token, nonce: randomUUID() } })
    assert.equal(exchanged.code, 0, `a new device_token was answered ${exchanged.text}`)
    const renewed = v.parse(Exchanged, exchanged.data).device_token
    assert.notEqual(signerOf(renewed), old, 'the old key still signs')
    await verifyDeviceToken(renewed)
  }, takeOver)
  await verifyDeviceToken(deviceToken)
}

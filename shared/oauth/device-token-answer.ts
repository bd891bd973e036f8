import * as v from 'valibot'
import { type DeviceTokenGrant, signDeviceToken } from '../tokens/device-token.ts'
import { readUser } from '../users/user.ts'

/** Schema of the members that every answer with a device_token has (RFC 6749 §5.1). */
export const DeviceTokenAnswer = v.object({
  device_token: v.string(),
  token_type: v.literal('Bearer'),
  /** Seconds until the device_token expires. */
  expires_in: v.pipe(v.number(), v.integer()),
  /** When the device_token and its access_token expire; epoch milliseconds. */
  expire: v.pipe(v.number(), v.integer()),
  /** Granted scopes, separated by spaces. */
  scope: v.string(),
})
export type DeviceTokenAnswer = v.InferOutput<typeof DeviceTokenAnswer>

/**
 * Issues a device_token with the claims that its scopes allow, and builds the answer with it. Reads the user
 * only when the scopes allow claims about them.
 */
export async function issueDeviceToken(
  grant: Omit<DeviceTokenGrant, 'email' | 'nickname'>,
): Promise<DeviceTokenAnswer> {
  const { userId, scopes, expiresAt } = grant
  const needsUser = scopes.includes('email') || scopes.includes('profile')
  const user = needsUser ? await readUser(userId) : undefined
  return {
    device_token: await signDeviceToken({ ...grant, email: user?.email, nickname: user?.nickname }),
    token_type: 'Bearer',
    expires_in: Math.floor((expiresAt - Date.now()) / 1000),
    expire: expiresAt,
    scope: scopes.join(' '),
  }
}

import * as v from 'valibot'
import { type DeviceTokenGrant, signDeviceToken } from '../tokens/device-token.ts'
import type { Scope } from '../tokens/scopes.ts'
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

/** Builds the answer with a device_token; `expiresAt` is in epoch milliseconds. */
export const deviceTokenAnswer = (
  deviceToken: string,
  expiresAt: number,
  scopes: readonly Scope[],
): DeviceTokenAnswer => ({
  device_token: deviceToken,
  token_type: 'Bearer',
  expires_in: Math.floor((expiresAt - Date.now()) / 1000),
  expire: expiresAt,
  scope: scopes.join(' '),
})

/** Issues a device_token with the claims that its scopes allow; reads the user only when they allow any. */
export async function issueDeviceToken(grant: Omit<DeviceTokenGrant, 'email' | 'nickname'>): Promise<string> {
  const { userId, scopes } = grant
  const needsUser = scopes.includes('email') || scopes.includes('profile')
  const user = needsUser ? await readUser(userId) : undefined
  return signDeviceToken({ ...grant, email: user?.email, nickname: user?.nickname })
}

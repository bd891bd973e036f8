import * as v from 'valibot'
import { Failure, invalidParameter } from '../errors.ts'
import { settings } from '../settings.ts'
import { checkAccessToken, tokenFailure } from '../tokens/access-token.ts'
import { type DeviceTokenGrant, signDeviceToken } from '../tokens/device-token.ts'
import { readUser } from '../users/user.ts'
import { checkLengths, grantScopes } from './authorization-request.ts'
import { readClient } from './client.ts'
import { Parameter } from './parameter.ts'

/** Schema of the members that all answers with a device_token have in common (RFC 6749 §5.1). */
export const DeviceTokenAnswer = v.object({
  device_token: v.string(),
  token_type: v.literal('Bearer'),
  expires_in: v.pipe(v.number(), v.integer()),
  /** When the device_token and its access_token expire; epoch milliseconds. */
  expire: v.pipe(v.number(), v.integer()),
  /** Granted scopes, separated by spaces. */
  scope: v.string(),
})
export type DeviceTokenAnswer = v.InferOutput<typeof DeviceTokenAnswer>

/** Schema of the parameters that exchange an access_token for a device_token. */
export const ExchangeParameters = v.object(
  v.entriesFromList(['access_token', 'client_id', 'scope', 'nonce'], Parameter),
)

/**
 * Exchanges a first-party access_token for a device_token, and stores nothing. The device_token is for the
 * given client, by default the service's own. Its scopes are those that the access_token and the client
 * share; `scope` can limit them further.
 */
export async function exchangeAccessToken(
  parameters: v.InferOutput<typeof ExchangeParameters>,
  bearer: string | undefined,
): Promise<DeviceTokenAnswer> {
  const { client_id = settings().firstPartyClientId, scope, nonce } = parameters
  const [{ caller, accessToken }, client] = await Promise.all([
    checkSentToken(parameters.access_token, bearer),
    readClient(client_id),
  ])
  if (client === undefined) throw new Failure('invalid_redirect')
  checkLengths({ scope, nonce })
  const allowed = client.scopes.filter((name) => caller.scopes.includes(name))
  const scopes = scope === undefined ? allowed : grantScopes(scope, { scopes: allowed })
  const { userId, sessionId, expiresAt, authenticatedAt } = caller
  return issueDeviceToken({
    userId,
    clientId: client.clientId,
    sessionId,
    scopes,
    expiresAt,
    authenticatedAt,
    accessToken,
    nonce,
  })
}

/**
 * Checks the access_token from the body or the header. Refuses two different tokens (RFC 6750 §2), but checks
 * both of them first, so that an invalid token is reported as such.
 */
async function checkSentToken(inBody: string | undefined, bearer: string | undefined) {
  const accessToken = inBody ?? bearer
  if (accessToken === undefined) throw tokenFailure('unauthenticated', false)
  const [caller] = await Promise.all([
    checkAccessToken(accessToken, 'first-party'),
    bearer === undefined || bearer === accessToken ? undefined : checkAccessToken(bearer, 'first-party'),
  ])
  if (bearer !== undefined && bearer !== accessToken)
    throw invalidParameter('access_token', 'differs from that of the Authorization header')
  return { caller, accessToken }
}

/**
 * Issues a device_token with the claims that its scopes allow, and builds the answer with it. Reads the user
 * only for claims about the email address or name.
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

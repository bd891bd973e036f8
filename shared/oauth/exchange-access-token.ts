import * as v from 'valibot'
import { Failure, invalidParameter } from '../errors.ts'
import { settings } from '../settings.ts'
import { checkAccessToken, tokenFailure } from '../tokens/access-token.ts'
import { checkLengths, grantScopes } from './authorization-request.ts'
import { readClient } from './client.ts'
import { type DeviceTokenAnswer, issueDeviceToken } from './device-token-answer.ts'
import { Parameter } from './parameter.ts'

/** Schema of the parameters that exchange an access_token for a device_token. */
export const ExchangeParameters = v.object({
  access_token: Parameter,
  client_id: Parameter,
  scope: Parameter,
  nonce: Parameter,
})

/**
 * Issues a device_token for a first-party access_token, for the given client or the service's own. Its scopes
 * are those that the token and the client have in common, or the requested ones of these. Nothing is stored.
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
 * Checks the access_token in body or header, and each of them if there are two: the failure of an unknown one
 * comes before that they differ (RFC 6750 §2).
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

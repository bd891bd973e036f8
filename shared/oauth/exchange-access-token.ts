import * as v from 'valibot'
import { readClient } from './client.ts'
import { Failure, invalidParameter } from '../errors.ts'
import { bearerChallenge } from '../http/bearer-challenge.ts'
import { settings } from '../settings.ts'
import { type Caller, checkAccessToken } from '../tokens/access-token.ts'
import { signDeviceToken } from '../tokens/device-token.ts'
import { checkScope } from './check-scope.ts'
import { Parameter } from './parameter.ts'
import { readUserFacts } from './read-user-facts.ts'

/** Parameters of the exchange. */
export const ExchangeParameters = v.object({
  access_token: Parameter,
  client_id: Parameter,
  scope: Parameter,
  nonce: Parameter,
})
export type ExchangeParameters = v.InferOutput<typeof ExchangeParameters>

/** What the exchange answers. */
export const ExchangeAnswer = v.object({
  device_token: v.string(),
  token_type: v.literal('Bearer'),
  /** Seconds. */
  expires_in: v.pipe(v.number(), v.integer()),
  /** When the device_token expires, as the access_token does; epoch milliseconds. */
  expire: v.pipe(v.number(), v.integer()),
  /** Scopes, separated by spaces. */
  scope: v.string(),
})
export type ExchangeAnswer = v.InferOutput<typeof ExchangeAnswer>

/**
 * A device_token for a first-party access_token, for the given client or the service's own. It says what the token's
 * scopes and the client's have in common, or the part of it that is asked for. Nothing is stored.
 */
export async function exchangeAccessToken(
  parameters: ExchangeParameters,
  bearer: string | undefined,
): Promise<ExchangeAnswer> {
  const accessToken = readToken(parameters.access_token, bearer)
  const [caller, client] = await Promise.all([
    checkToken(accessToken),
    readClient(parameters.client_id ?? settings().firstPartyClientId, { consistent: true }),
  ])
  if (client === undefined) throw new Failure('invalid_redirect')
  const allowed = { ...client, scopes: client.scopes.filter((scope) => caller.scopes.includes(scope)) }
  const scopes = parameters.scope === undefined ? allowed.scopes : checkScope(parameters.scope, allowed)
  const device_token = await signDeviceToken({
    userId: caller.userId,
    clientId: client.clientId,
    sessionId: caller.sessionId,
    scopes,
    expiresAt: caller.expiresAt,
    authenticatedAt: caller.authenticatedAt,
    accessToken,
    nonce: parameters.nonce,
    ...(await readUserFacts(caller.userId, scopes)),
  })
  return {
    device_token,
    token_type: 'Bearer',
    expires_in: Math.floor((caller.expiresAt - Date.now()) / 1000),
    expire: caller.expiresAt,
    scope: scopes.join(' '),
  }
}

/** The token, from the body or the header; sending two different ones is refused (RFC 6750 §2). */
function readToken(inBody: string | undefined, bearer: string | undefined): string {
  if (inBody !== undefined && bearer !== undefined && inBody !== bearer) {
    throw invalidParameter('access_token', 'differs from that of the Authorization header')
  }
  const token = inBody ?? bearer
  if (token === undefined) throw bearerChallenge(new Failure('unauthenticated'), false)
  return token
}

async function checkToken(token: string): Promise<Caller> {
  try {
    return await checkAccessToken(token, 'first-party')
  } catch (error) {
    throw error instanceof Failure ? bearerChallenge(error) : error
  }
}

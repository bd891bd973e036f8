import { Failure } from '../errors.ts'
import type { RequestInfo } from '../http/request.ts'
import { authenticateClient } from './authenticate-client.ts'
import { readClientCredentials } from './client-credentials.ts'
import { exchangeCode } from './exchange-code.ts'
import { requireParameter } from './parameter.ts'
import type { TokenAnswer, TokenParameters } from './token-request.ts'

/** Every grant that the token endpoint knows (RFC 6749 §4), by `grant_type`. */
const grants = new Map([['authorization_code', exchangeCode]])

/** Answers a token request: the grant that it names, for the client that it comes from (OAuth 2.1 §3.2). */
export async function handleTokenRequest(
  parameters: TokenParameters,
  request: Pick<RequestInfo, 'authorization'>,
): Promise<TokenAnswer> {
  const exchange = grants.get(requireParameter('grant_type', parameters.grant_type))
  if (exchange === undefined) throw new Failure('unsupported_grant_type')
  return exchange(parameters, authenticateClient(readClientCredentials(parameters, request)))
}

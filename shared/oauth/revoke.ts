import type { RequestInfo } from '../http/request.ts'
import { revokeToken } from '../tokens/access-token.ts'
import { authenticateClient } from './authenticate-client.ts'
import { readClientCredentials } from './client-credentials.ts'
import { requireParameter } from './parameter.ts'

/**
 * Revokes a token for the client that it was issued to (RFC 7009 §2.1). One that is unknown or already revoked is no failure
 * (§2.2); a hint at its type is not needed, since only access_tokens can be revoked.
 */
export async function revoke(
  parameters: {
    token?: string | undefined
    client_id?: string | undefined
    client_secret?: string | undefined
  },
  request: Pick<RequestInfo, 'authorization'>,
): Promise<void> {
  const client = await authenticateClient(readClientCredentials(parameters, request))
  await revokeToken(requireParameter('token', parameters.token), client.clientId)
}

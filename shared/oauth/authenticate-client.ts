import { type Client, readClient } from './client.ts'
import { type ClientCredentials, invalidClient } from './client-credentials.ts'
import { isClientSecret } from './client-secret.ts'

/**
 * The client behind credentials (RFC 6749 §3.2.1): a confidential one by its secret, a public one by its id alone. A
 * secret from a client that has none is a mistake worth telling.
 */
export async function authenticateClient({ clientId, secrets, basic }: ClientCredentials): Promise<Client> {
  const client = await readClient(clientId, { consistent: true })
  if (client === undefined) throw invalidClient(basic)
  const { secretHash } = client
  const authentic =
    secretHash === undefined
      ? secrets.length === 0
      : secrets.some((secret) => isClientSecret(secret, secretHash))
  if (!authentic) throw invalidClient(basic)
  return client
}

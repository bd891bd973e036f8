import { handler as consent } from '../../functions/oauth2/consent.ts'
import { callEndpoint } from './call-endpoint.ts'
import {
  authorizationRequest,
  bearer,
  exchangeRequest,
  pkce,
  type SignedIn,
  type TestClient,
} from './oauth-clients.ts'

/** Calls the consent endpoint in this process. Returns the request that exchanges the authorization code. */
export async function consentTo(client: TestClient, session: SignedIn): Promise<Record<string, string>> {
  const { verifier, challenge } = pkce()
  const body = authorizationRequest(client, { code_challenge: challenge })
  const { data } = await callEndpoint(consent, { body, headers: bearer(session.accessToken) })
  return exchangeRequest(client, (data as { code: string }).code, verifier)
}

import { expect } from 'vitest'
import { handler as exchangeToken } from '../../../functions/oauth2/exchange.ts'
import { handler as token } from '../../../functions/oauth2/token.ts'
import { callEndpoint } from '../../support/call-endpoint.ts'
import { consentTo } from '../../support/consent.ts'
import { createClient, createSession } from '../../support/oauth-clients.ts'
import { openTicket, verifyAuthenticator } from '../../support/sign-in-calls.ts'
import { authenticatorCode, createUser } from '../../support/sign-in.ts'
import { throttle } from '../../support/tamper-calls.ts'

/**
 * Rehearses KMS throttling: requests that need a signature get 503 with Retry-After, and succeed when
 * repeated.
 */
export async function anExhaustedKmsQuota(): Promise<void> {
  const user = await createUser()
  const ticket = await openTicket(user)
  const code = await authenticatorCode(user.totpSecret)
  const [session, client] = await Promise.all([createSession(), createClient()])
  const form = await consentTo(client, session)
  const signers = {
    '2fa': () => verifyAuthenticator(user, ticket, code),
    token: () => callEndpoint(token, { body: form }),
    exchange: () => callEndpoint(exchangeToken, { body: { access_token: session.accessToken } }),
  }
  const requestAll = () => Promise.all(Object.values(signers).map((request) => request()))

  const { restore } = throttle('Sign')
  try {
    for (const answer of await requestAll()) {
      expect(answer).toMatchObject({ status: 503, code: 50300, headers: { 'retry-after': '1' } })
    }
  } finally {
    // Three requests with four attempts each, including the SDK's retries.
    expect(restore()).toBe(12)
  }
  for (const answer of await requestAll()) expect(answer).toMatchObject({ status: 200, code: 0 })
}

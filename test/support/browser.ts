import { expect } from 'vitest'
import { type SignedIn } from './oauth-clients.ts'
import { postConsent, stack } from './oauth.ts'

/**
 * Acts as a browser and its user: opens a client's authorization URL, posts the user's decision, and follows
 * the redirect. Resolves with the URL at which the client receives the answer.
 */
export async function followAuthorization(
  url: URL,
  session: SignedIn,
  { approved = true } = {},
): Promise<URL> {
  const response = await fetch(url, { redirect: 'manual' })
  expect(response.status).toBe(302)
  const target = new URL(response.headers.get('location') ?? '')
  if (target.origin + target.pathname !== stack.auth_url) return target
  const { status, body } = await postConsent(session, {
    ...Object.fromEntries(target.searchParams),
    approved,
  })
  expect(status).toBe(200)
  return new URL((body['data'] as { redirect_to: string }).redirect_to)
}

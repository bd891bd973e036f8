import { expect } from 'vitest'
import { type SignedIn } from './oauth-clients.ts'
import { postConsent, stack } from './oauth.ts'

/**
 * Follows a client's authorization URL as a browser and a user would: to the authorization page, which posts
 * what it was given, with the user's answer, and sends the browser where it is told. Resolves with the
 * address at which the client finds its answer.
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

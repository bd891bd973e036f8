import { requireEnv } from '../env.ts'

/**
 * Address of the page where the user signs in and consents, carrying the request's query as it was sent. What must not
 * stand in a header is percent-encoded on the way.
 */
export function authorizationPage(rawQuery: string): string {
  const page = new URL(requireEnv('AUTH_URL'))
  page.search = page.search === '' ? rawQuery : `${page.search}&${rawQuery}`
  return page.href
}

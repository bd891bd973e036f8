import { requireEnv } from '../env.ts'
import type { RequestInfo } from './request.ts'

/**
 * The cross-origin protocol (Fetch §3.2), which functions speak themselves: API Gateway's own accepts no
 * origins of apps, such as `capacitor://localhost`, and no `*` for a port, and does not say `vary: origin`.
 */

const exposedHeaders = 'x-request-id,retry-after,www-authenticate,content-disposition,etag'

/** Whether a list of origins has this one. An entry that ends in `:*` stands for all ports of a host. */
const allows = (allowed: readonly string[], origin: string): boolean =>
  allowed.some((entry) => entry === (entry.endsWith(':*') ? origin.replace(/(:\d{1,5})?$/, ':*') : origin))

/**
 * Headers that let pages of the configured origins read an answer. Every answer says that it depends on the
 * origin, so that no cache gives a page an answer to a request of another origin, or of none.
 */
export function corsHeaders(origin: string | undefined): Record<string, string> {
  const vary = { vary: 'origin' }
  if (origin === undefined || !allows(requireEnv('CORS_ORIGINS').split(','), origin)) return vary
  return { ...vary, 'access-control-allow-origin': origin, 'access-control-expose-headers': exposedHeaders }
}

/**
 * Whether a request is a preflight. The function for unknown routes answers them for all paths, so that a
 * page can also read that a route does not exist.
 */
export const isPreflight = ({ method, header }: Pick<RequestInfo, 'method' | 'header'>): boolean =>
  method === 'OPTIONS' &&
  header('origin') !== undefined &&
  header('access-control-request-method') !== undefined

/** Headers of the answer to a preflight, besides those of every answer. */
export const preflightHeaders = {
  'access-control-allow-methods': 'GET,POST',
  'access-control-allow-headers': 'authorization,content-type,accept,if-none-match',
  'access-control-max-age': '3600',
}

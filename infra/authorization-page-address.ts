import type { Config } from './config.ts'

/** Origin of the page that `npm start` serves. */
const localOrigin = 'http://127.0.0.1:3001'

/**
 * The address of the authorization page and the origins that may call the API. Taken from the configuration,
 * else from the deployed page (its origin may be a CDK token that only the deployment resolves), else from
 * the local stack.
 */
export function resolvePage(
  config: Config,
  deployedOrigin: string | undefined,
): { authUrl: string; corsOrigins: string[] } {
  const origin =
    config.authUrl === undefined ? (deployedOrigin ?? localOrigin) : new URL(config.authUrl).origin
  return { authUrl: config.authUrl ?? `${origin}/`, corsOrigins: config.corsOrigins ?? [origin] }
}

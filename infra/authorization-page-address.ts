import type { Config } from './config.ts'

/** Origin of the page that `npm start` serves. */
const localOrigin = 'http://127.0.0.1:3001'

/**
 * Where users sign in, and which origins' pages may call the API: what the configuration names, else the page that is
 * deployed with the service (its origin may be a token that only the deployment knows), else the laptop's.
 */
export function resolvePage(
  config: Config,
  deployedOrigin: string | undefined,
): { authUrl: string; corsOrigins: string[] } {
  const origin =
    config.authUrl === undefined ? (deployedOrigin ?? localOrigin) : new URL(config.authUrl).origin
  return { authUrl: config.authUrl ?? `${origin}/`, corsOrigins: config.corsOrigins ?? [origin] }
}

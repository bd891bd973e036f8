import type { Config } from './config.ts'

/** Origin of the authorization page on the local stack (`npm start`). */
const localOrigin = 'http://127.0.0.1:3001'

/**
 * Returns the URL of the authorization page and the origins that may call the API (CORS): the configured
 * ones, else those of the deployed page, else those of the local stack. The origin of a deployed page may be
 * a CDK token, whose value is known only during the deployment.
 */
export function resolvePage(
  config: Config,
  deployedOrigin: string | undefined,
): { authUrl: string; corsOrigins: string[] } {
  const origin =
    config.authUrl === undefined ? (deployedOrigin ?? localOrigin) : new URL(config.authUrl).origin
  return { authUrl: config.authUrl ?? `${origin}/`, corsOrigins: config.corsOrigins ?? [origin] }
}

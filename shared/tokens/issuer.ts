import { requireEnv } from '../env.ts'

/** The issuer identifier, `iss` of every device_token: the base URL without a trailing slash (OpenID Connect Discovery §3). */
export const issuer = (): string => requireEnv('BASE_URL').replace(/\/+$/, '')

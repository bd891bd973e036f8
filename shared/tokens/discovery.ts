import * as v from 'valibot'
import { issuer } from '../env.ts'
import { authenticationContext } from './authentication-context.ts'
import { scopes } from './scopes.ts'

/** Values of `prompt` (OpenID Connect Core §3.1.2.1). Others are ignored. */
export const prompts = ['none', 'login', 'consent', 'select_account'] as const

/** Client authentication methods: `none` for public clients, which use PKCE; a secret for other clients. */
const clientAuthentication = ['none', 'client_secret_basic', 'client_secret_post']

/**
 * Builds the discovery document of this deployment (OpenID Connect Discovery §3, RFC 8414 §2). It has no
 * `end_session_endpoint` (RP-Initiated Logout §2.1) if the deployment has no sign-out page.
 */
export function discoveryDocument(base = issuer(), signOutUrl = process.env.SIGN_OUT_URL) {
  return {
    issuer: base,
    authorization_endpoint: `${base}/oauth2/authorize`,
    token_endpoint: `${base}/oauth2/token`,
    userinfo_endpoint: `${base}/oauth2/userinfo`,
    revocation_endpoint: `${base}/oauth2/revoke`,
    ...(signOutUrl && { end_session_endpoint: signOutUrl }),
    jwks_uri: `${base}/.well-known/jwks.json`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: clientAuthentication,
    revocation_endpoint_auth_methods_supported: clientAuthentication,
    scopes_supported: [...scopes],
    claim_types_supported: ['normal'],
    claims_supported: [
      'iss',
      'sub',
      'aud',
      'azp',
      'exp',
      'iat',
      'auth_time',
      'jti',
      'sid',
      'acr',
      'amr',
      'at_hash',
      'nonce',
      'email',
      'email_verified',
      'name',
      'nickname',
    ],
    acr_values_supported: [authenticationContext.acr],
    prompt_values_supported: [...prompts],
    authorization_response_iss_parameter_supported: true,
    claims_parameter_supported: false,
    request_parameter_supported: false,
    // If `request_uri_parameter_supported` is missing, clients take it as true (OpenID Connect Discovery §3).
    request_uri_parameter_supported: false,
  }
}

const schemaOf = (value: unknown) =>
  typeof value === 'string' ? v.string() : typeof value === 'boolean' ? v.boolean() : v.array(v.string())

/** Schema of the discovery document. Its types are derived from an example document. */
export const Discovery = v.object(
  Object.fromEntries(
    Object.entries(discoveryDocument('https://api.example.com', 'https://page.example.com/sign-out')).map(
      ([name, value]) => [name, name === 'end_session_endpoint' ? v.optional(v.string()) : schemaOf(value)],
    ),
  ),
)

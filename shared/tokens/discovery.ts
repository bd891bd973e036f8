import * as v from 'valibot'
import { issuer } from '../env.ts'
import { scopes } from './scopes.ts'

/** Client authentication methods: `none` for public clients, which use PKCE; a secret for other clients. */
const clientAuthentication = ['none', 'client_secret_basic', 'client_secret_post']

/** Builds the discovery document of this deployment (OpenID Connect Discovery §3, RFC 8414 §2). */
export function discoveryDocument(base = issuer()) {
  return {
    issuer: base,
    authorization_endpoint: `${base}/oauth2/authorize`,
    token_endpoint: `${base}/oauth2/token`,
    userinfo_endpoint: `${base}/oauth2/userinfo`,
    revocation_endpoint: `${base}/oauth2/revoke`,
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
      'amr',
      'at_hash',
      'nonce',
      'email',
      'email_verified',
      'name',
    ],
    authorization_response_iss_parameter_supported: true,
    // If `request_uri_parameter_supported` is missing, clients take it as true (OpenID Connect Discovery §3).
    request_uri_parameter_supported: false,
  }
}

/** Schema of the discovery document. Its types are derived from an example document. */
export const Discovery = v.object(
  Object.fromEntries(
    Object.entries(discoveryDocument('https://api.example.com')).map(([name, value]) => [
      name,
      typeof value === 'string' ? v.string() : typeof value === 'boolean' ? v.boolean() : v.array(v.string()),
    ]),
  ),
)

import { discoveryDocument } from '../../../shared/tokens/discovery.ts'
import type { Operation } from '../operation.ts'

const redirect = (description: string) => ({
  302: { description, headers: { location: 'Where the browser goes next.' } },
})

const expire = 1_789_000_000_000
const deviceToken = 'eyJhbGciOiJSUzI1NiIsImtpZCI6Ii4uLiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiIuLi4ifQ.c2lnbmF0dXJl'
const accessToken = 'at_16.bWFya2VkLXNlc3Npb24taWQ.cmFuZG9tLXJhbmRvbS1yYW5kb20tcmFuZG9tLXJhbmRvbQ'

/** The OpenID provider and the password flow. */
export const signInOperations: Record<string, Operation> = {
  'GET /oauth2/authorize': {
    summary: 'Start the authorization-code flow',
    description:
      'Checks the client, its redirect URI and the PKCE challenge, and sends the browser to the authorization page with every parameter as sent. An unknown client or redirect URI is answered here, never redirected; any other fault goes to the redirect URI with `error`, `state` and `iss`.',
    failures: ['invalid_redirect'],
    example: null,
    replies: redirect('To the authorization page, or back to the client with an error.'),
  },
  'POST /oauth2/authorize/consent': {
    summary: 'Consent, or refuse',
    description:
      'Called by the authorization page once the user has signed in and decided. Answers with the address to which the browser goes: the client, with a one-time code or with `error=access_denied`.',
    failures: ['invalid_redirect', 'invalid_scope'],
    request: {
      response_type: 'code',
      client_id: 'demo-app',
      redirect_uri: 'http://127.0.0.1:4000/callback',
      scope: 'openid account.read',
      state: 'af0ifjsldkj',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
      approved: true,
    },
    example: {
      code: 'SplxlOBeZQQYbYS6WxSbIA',
      redirect_to:
        'http://127.0.0.1:4000/callback?code=SplxlOBeZQQYbYS6WxSbIA&state=af0ifjsldkj&iss=https%3A%2F%2Fapi.example.com',
      state: 'af0ifjsldkj',
      iss: 'https://api.example.com',
      expires_in: 60,
    },
  },
  'POST /oauth2/token': {
    summary: 'Exchange a code for tokens',
    description:
      'Exchanges an authorization code and its PKCE verifier for tokens. A code works once; a second, otherwise valid, use revokes what the first one gave. `id_token` is the device_token. The body may be a form or JSON.',
    failures: ['invalid_grant', 'unsupported_grant_type', 'invalid_client'],
    request: {
      grant_type: 'authorization_code',
      code: 'SplxlOBeZQQYbYS6WxSbIA',
      redirect_uri: 'http://127.0.0.1:4000/callback',
      client_id: 'demo-app',
      code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
    },
    example: {
      device_token: deviceToken,
      id_token: deviceToken,
      access_token: accessToken,
      token_type: 'Bearer',
      expires_in: 86_400,
      expire,
      scope: 'openid account.read',
    },
  },
  'POST /oauth2/authorize': {
    summary: 'Exchange an access_token for a device_token',
    description:
      'For business servers: exchanges a first-party access_token, sent in the body or as a Bearer token, for a device_token that expires with it.',
    failures: ['invalid_redirect', 'unauthenticated', 'insufficient_scope', 'invalid_scope'],
    request: { access_token: accessToken, client_id: 'demo-app', scope: 'openid email' },
    example: {
      device_token: deviceToken,
      token_type: 'Bearer',
      expires_in: 3_600,
      expire,
      scope: 'openid email',
    },
  },
  'GET /oauth2/userinfo': {
    summary: 'Claims about the user',
    description: 'OpenID Connect userinfo: the claims that the scopes of the token allow.',
    failures: [],
    example: { sub: '42', email: 'alice@example.com', email_verified: true, name: 'Alice' },
  },
  'POST /oauth2/userinfo': {
    summary: 'Claims about the user, by POST',
    description: 'The same as the GET, for clients that prefer it.',
    failures: [],
    example: { sub: '42', email: 'alice@example.com', email_verified: true, name: 'Alice' },
  },
  'POST /oauth2/revoke': {
    summary: 'Revoke a token',
    description:
      'RFC 7009. A token that is unknown is answered like one that was revoked; one that was issued to another client is refused and stays.',
    failures: ['invalid_client', 'invalid_grant'],
    request: { token: accessToken, client_id: 'demo-app' },
    example: null,
  },
  'GET /.well-known/jwks.json': {
    summary: 'Keys that verify device_tokens',
    description:
      'The JWK set: the signing key, the next one some time before it signs, and earlier ones until every token that they signed has expired.',
    failures: [],
    example: {
      keys: [
        {
          kty: 'RSA',
          n: '0vx7agoebGcQ',
          e: 'AQAB',
          alg: 'RS256',
          use: 'sig',
          kid: 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs',
        },
      ],
    },
    replies: { 304: { description: 'The copy that `if-none-match` names is still good.' } },
  },
  'GET /.well-known/openid-configuration': {
    summary: 'Discovery document',
    description: 'OpenID Connect Discovery: the issuer, its endpoints, and what they support.',
    failures: [],
    get example() {
      return discoveryDocument()
    },
    replies: { 304: { description: 'The copy that `if-none-match` names is still good.' } },
  },
  'POST /user/login-with-password': {
    summary: 'Sign in, first step',
    description:
      'Checks email and password (the MD5 of it, in hex) and answers with a one-time ticket for the second factor; a code is mailed. Unknown, wrong and disabled accounts answer alike.',
    failures: ['bad_credentials', 'too_many_requests'],
    request: { email: 'alice@example.com', login_password: '9cc2ae8a1ba7a93da39b46fc1019c481' },
    example: {
      need_two_factor: true,
      login_ticket: 'pFJtX1qJbXh3f0b7mC2nUw',
      email: 'a***e@example.com',
      two_factor_methods: ['EMAIL', 'AUTHENTICATOR'],
    },
  },
  'POST /user/login/2fa': {
    summary: 'Sign in, second step',
    description:
      'Checks the mailed code (`EMAIL`) or the authenticator code (`AUTHENTICATOR`) and gives the tokens. A ticket dies with success or with the fifth wrong code.',
    failures: ['bad_login_ticket', 'bad_verification_code'],
    request: {
      email: 'alice@example.com',
      login_ticket: 'pFJtX1qJbXh3f0b7mC2nUw',
      method: 'AUTHENTICATOR',
      authenticator_code: '123456',
    },
    example: { access_token: accessToken, device_token: deviceToken, expire, email: 'alice@example.com' },
  },
  'POST /user/logout': {
    summary: 'End the session',
    description:
      'Ends the session of the token: the token and every token derived from it stop working at once.',
    failures: ['forbidden'],
    request: { id: '42' },
    example: null,
  },
}

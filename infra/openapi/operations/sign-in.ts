import { discoveryDocument } from '../../../shared/tokens/discovery.ts'
import type { Operation } from '../operation.ts'

const location = { description: 'The address that the browser opens next.', schema: { type: 'string' } }
const redirected = {
  description: 'To the authorization page, or back to the client with an error.',
  headers: { location },
}
const expire = 1_789_000_000_000
const deviceToken = 'eyJhbGciOiJSUzI1NiIsImtpZCI6Ii4uLiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiIuLi4ifQ.c2lnbmF0dXJl'
const grant = { token_type: 'Bearer', expires_in: 3_600, expire, scope: 'openid email' }
const accessToken = 'at_16.mXx0c2Vzc2lvbi1pZC0tMQ.YW4tZXhhbXBsZS1vZi0zMi1yYW5kb20tYnl0ZXMtMTI'
const code = 'SplxlOBeZQQYbYS6WxSbIAqPqzWJ5Cc5mGk0bNq2E7k'
const email = 'alice@example.com'
const kid = 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs'
const loginTicket = 'lt_16.pFJtX1qJbXh3f0b7mC2nUwSgkQ8bS2v5yZ0oYcT6R1A'

const userInfo: Operation = {
  summary: 'Claims about the user',
  description: 'OpenID Connect userinfo: the claims for which the token has the scope.',
  data: 'UserInfo',
  example: { sub: '42', email, email_verified: true, name: 'Alice', nickname: 'Alice' },
}

const given = { minLength: 1, maxLength: 2048 }
const unsupported = { maxLength: 0, description: 'Not supported.' }

/** The checks that shared/oauth/authorization-request.ts makes, as JSON Schema. */
const authorizationChecks = {
  required: ['response_type', 'client_id', 'redirect_uri', 'scope'],
  properties: {
    response_type: { const: 'code' },
    client_id: given,
    redirect_uri: given,
    scope: given,
    state: { maxLength: 4096 },
    nonce: { maxLength: 1024 },
    code_challenge: {
      pattern: '^[A-Za-z0-9_-]{43}$',
      description: 'Required, unless the client is registered with `pkce: optional` and sends a `nonce`.',
    },
    code_challenge_method: { const: 'S256' },
    response_mode: { const: 'query' },
    prompt: { maxLength: 2048 },
    max_age: { type: 'integer', format: 'int64', minimum: 0, maximum: 999_999_999_999 },
    id_token_hint: { maxLength: 8192, description: 'A device_token, of any client, expired or not.' },
    login_hint: { maxLength: 2048 },
    acr_values: { maxLength: 2048 },
    request: unsupported,
    request_uri: unsupported,
  },
}

/** Descriptions and examples of the OpenID provider and of the password sign-in. */
export const signInOperations: Record<string, Operation> = {
  'GET /oauth2/authorize': {
    summary: 'Start the authorization-code flow',
    description:
      'Checks the client, its redirect URI and the PKCE challenge, and redirects the browser to the authorization page with all parameters unchanged. Scopes that are unknown or not for this client are ignored, but `openid` is demanded. For an unknown client or redirect URI the answer is an error, never a redirect; a browser (`Accept: text/html`) gets a page that says which. Any other error is sent to the redirect URI with `error`, `state` and `iss`. With `prompt=none`, the page answers without a click if this browser has a session and the user has allowed the client before, otherwise with `login_required`, `consent_required` or `interaction_required`; in a frame it is always `login_required`.',
    checks: authorizationChecks,
    failures: ['invalid_redirect'],
    replies: {
      302: redirected,
    },
  },
  'GET /oauth2/authorize/request': {
    summary: 'Describe an authorization request',
    description:
      'The authorization page calls this with the query that it was opened with, before it asks for a password. The answer is the client’s registered name, the scopes that it would get, whether what was allowed before needs no second click, and with `prompt=none` the URLs to open if it cannot be answered. A request that consent would refuse is refused here with the same error.',
    checks: authorizationChecks,
    failures: ['invalid_redirect', 'invalid_scope'],
    data: 'AuthorizationRequest',
    example: { client_name: 'Demo application', scope: 'openid account.read', remembers_consent: true },
  },
  'POST /oauth2/authorize/consent': {
    summary: 'Allow or deny access',
    description:
      'The authorization page calls this when the user has signed in and decided. If `prompt=login` or `max_age` asks for a more recent sign-in, an approval is answered 401 with `error="insufficient_user_authentication"` in `WWW-Authenticate` (RFC 9470), and the user signs in again; with `prompt=none`, the client gets `login_required`. So it does for another user than that of an `id_token_hint`. The answer names the address that the browser opens next: the client’s redirect URI with a one-time code, or with `error=access_denied`.',
    checks: authorizationChecks,
    failures: ['invalid_redirect', 'invalid_scope'],
    form: 'ConsentForm',
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
    data: 'Consent',
    example: {
      code,
      redirect_to: `http://127.0.0.1:4000/callback?code=${code}&state=af0ifjsldkj&iss=https%3A%2F%2Fapi.example.com`,
      state: 'af0ifjsldkj',
      iss: 'https://api.example.com',
      expires_in: 60,
    },
  },
  'POST /oauth2/token': {
    summary: 'Exchange a code for tokens',
    description:
      'Exchanges an authorization code and its PKCE verifier for tokens. A code works once; a second, otherwise valid, use revokes the tokens of the first. `id_token` is the device_token. The body is a form or JSON.',
    checks: {
      required: ['grant_type', 'code', 'redirect_uri', 'code_verifier'],
      properties: {
        grant_type: { const: 'authorization_code' },
        code: { minLength: 1 },
        redirect_uri: { minLength: 1 },
        code_verifier: { minLength: 1 },
      },
    },
    failures: ['invalid_grant', 'unsupported_grant_type', 'invalid_client'],
    form: 'TokenForm',
    request: {
      grant_type: 'authorization_code',
      code,
      redirect_uri: 'http://127.0.0.1:4000/callback',
      client_id: 'demo-app',
      code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
    },
    data: 'Token',
    example: { device_token: deviceToken, id_token: deviceToken, access_token: accessToken, ...grant },
  },
  'POST /oauth2/authorize': {
    summary: 'Exchange an access_token for a device_token',
    description:
      'For business servers: exchanges a first-party access_token, sent in the body or as a Bearer token, for a device_token. Both expire at the same time. A form is an authorization request instead, answered as on GET.',
    checks: { required: [], properties: { scope: { maxLength: 2048 }, nonce: { maxLength: 1024 } } },
    failures: ['invalid_redirect', 'unauthenticated', 'insufficient_scope', 'invalid_scope'],
    form: 'DeviceTokenForm',
    request: { access_token: accessToken, client_id: 'demo-app', scope: 'openid email' },
    data: 'DeviceToken',
    example: { device_token: deviceToken, ...grant },
    replies: { 302: redirected },
  },
  'GET /oauth2/sign-out/request': {
    summary: 'Describe a sign-out request',
    description:
      'The sign-out page calls this with the query that it was opened with (RP-Initiated Logout 1.0). The answer is the name of the client, and the URL to open after the sign-out if the client has registered it. It ends nothing: the page posts `/user/logout` when the user agrees.',
    checks: {
      required: [],
      properties: {
        id_token_hint: { maxLength: 8192, description: 'A device_token, of any client, expired or not.' },
        client_id: { maxLength: 2048 },
        post_logout_redirect_uri: { maxLength: 2048 },
        state: { maxLength: 4096 },
      },
    },
    failures: ['invalid_redirect'],
    data: 'SignOutRequest',
    example: { client_name: 'Demo application', redirect_to: 'https://app.example.com/?state=af0ifjsldkj' },
  },
  'GET /oauth2/userinfo': userInfo,
  'POST /oauth2/userinfo': {
    ...userInfo,
    summary: 'Claims about the user, by POST, also with the token in a form',
    // In words, because OpenAPI cannot say that the form stands for the header: it would be an optional body,
    // and a request without either would be valid.
    description: `${userInfo.description} Without an Authorization header, a form may have the token as \`access_token\`.`,
    failures: ['malformed_request'],
  },
  'POST /oauth2/revoke': {
    summary: 'Revoke a token',
    description:
      'RFC 7009. The body is a form or JSON. An unknown token gets the same answer as a revoked one. A token of another client is refused and stays valid.',
    checks: { required: ['token'], properties: { token: { minLength: 1 } } },
    failures: ['invalid_client', 'invalid_grant'],
    form: 'RevokeForm',
    request: { token: accessToken, client_id: 'demo-app' },
  },
  'GET /.well-known/jwks.json': {
    summary: 'Keys that verify device_tokens',
    description:
      'The JWK set (RFC 7517): the key that signs, the next one before it signs, and earlier ones until their last token has expired. HEAD answers the same without a body.',
    data: 'JsonWebKeySet',
    example: { keys: [{ kty: 'RSA', n: '0vx7agoebGcQ', e: 'AQAB', alg: 'RS256', use: 'sig', kid }] },
    replies: { 304: { description: 'The copy that `if-none-match` names is still current.' } },
  },
  'GET /.well-known/openid-configuration': {
    summary: 'Discovery document',
    description:
      'OpenID Connect Discovery: the issuer, its endpoints and their capabilities. HEAD answers the same without a body.',
    data: 'ProviderMetadata',
    get example() {
      return discoveryDocument(undefined, 'https://page.example.com/sign-out')
    },
    replies: { 304: { description: 'The copy that `if-none-match` names is still current.' } },
  },
  'POST /user/login-with-password': {
    summary: 'Sign in, first step',
    description:
      'Checks the email address and the password (its MD5 in hex), mails a code, and answers with a one-time ticket for the second step. The mail to a user who has an authenticator waits some seconds, and is not sent if the sign-in is completed by then. A user is mailed at most five codes an hour; after that, `two_factor_methods` lacks `EMAIL`, or the answer is 429 if no other method is enrolled. The answer is the same for an unknown account, a wrong password and a disabled account.',
    failures: ['bad_credentials', 'too_many_requests'],
    form: 'LoginForm',
    request: { email, login_password: '88e4ddd2402d92d50e1879d6ecd9ffd4' },
    data: 'LoginResultVO',
    example: {
      need_two_factor: true,
      login_ticket: loginTicket,
      email: 'a***e@example.com',
      two_factor_methods: ['EMAIL', 'AUTHENTICATOR'],
    },
  },
  'POST /user/login/2fa': {
    summary: 'Sign in, second step',
    description:
      'Checks the mailed code (`EMAIL`) or the authenticator’s code (`AUTHENTICATOR`) and answers with the tokens. A ticket is used up by success or by the fifth wrong code. After twenty wrong codes of a user in an hour, over all tickets, the answer is 429, and the user is told by mail.',
    failures: ['bad_login_ticket', 'bad_verification_code', 'too_many_requests'],
    checks: {
      required: ['email', 'login_ticket', 'method'],
      properties: { method: { type: 'string', enum: ['EMAIL', 'AUTHENTICATOR'] } },
      if: { properties: { method: { type: 'string', const: 'EMAIL' } } },
      then: { required: ['validate_code'] },
      else: { required: ['authenticator_code'] },
    },
    form: 'LoginVerifyForm',
    request: { email, login_ticket: loginTicket, method: 'AUTHENTICATOR', authenticator_code: '123456' },
    data: 'UserDetails',
    example: { access_token: accessToken, device_token: deviceToken, expire, email },
  },
  'POST /user/logout': {
    summary: 'End the session',
    description:
      'Ends the session of the token: this token and all tokens derived from it stop working at once.',
    failures: ['forbidden'],
    checks: { required: ['id'], properties: { id: { description: 'The `sub` of the device_token.' } } },
    form: 'LogoutForm',
    request: { id: '1001' },
  },
}

import { demoUsers } from '../../infra/local/demo/demo-users.ts'
import { scopes } from '../../shared/tokens/scopes.ts'
import type { Random } from '../support/random.ts'
import { type Actors, alice, demoClient, depositIds } from './actors.ts'

const ids = demoUsers.map(({ user_id: id }) => String(id))
const days = ['2024-02-29', '2026-01-01', '2026-11-22', '1970-01-01', '9999-12-31', '0001-01-01']
const s256 = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

/** Real values of every parameter of the API, by name, as texts; numbers and booleans are of `plainNames`. */
export function knownValues({ tokens, emails, confidential }: Actors): Record<string, readonly string[]> {
  return {
    currency: ['USDT', 'usdt', 'BTC', 'ETH', 'NONE'],
    currencyNetWork: ['TRC20', 'bitcoin', 'NONE'],
    amountDirection: ['1', '2'],
    businessId: ['DEPOSIT', 'REWARD', 'WITHDRAWAL', 'TRANSFER_IN', 'NONE'],
    ...{ beginTime: days, endTime: days, beginDate: days, endDate: days },
    current: ['1', '2', '3', '2147483647'],
    size: ['1', '5', '20'],
    keyword: ['', 'a', 'Bob', 'o', 'example', 'b***b@example.com', ...emails, 'İß', ' Carol '],
    type: ['DIRECT', 'COMMUNITY'],
    id: [...depositIds, ...ids, 'A'.repeat(43)],
    target_user_id: [...ids, '900001', '9007199254740991'],
    note: ['', 'met in Lisbon', ' 20 code points 😀😀😀😀 ', 'n'.repeat(20)],
    email: [...emails, ` ${alice.email} `, 'ALICE@EXAMPLE.COM', 'nobody@fuzz.example'],
    login_password: [alice.password, alice.password.toUpperCase(), '0'.repeat(32)],
    login_ticket: ['ZZticketZZ', 'lt_16.pFJtX1qJbXh3f0b7mC2nUwSgkQ8bS2v5yZ0oYcT6R1A'],
    method: ['EMAIL', 'AUTHENTICATOR', 'PASSKEY'],
    validate_code: ['123456', '000000'],
    authenticator_code: ['ZZtotpZZ', '000000'],
    response_type: ['code'],
    client_id: [demoClient.clientId, confidential.clientId, 'first-party', 'nobody'],
    redirect_uri: [demoClient.redirectUri, 'http://127.0.0.1:65535/callback', 'https://other.example/'],
    scope: ['openid', scopes.join(' '), 'openid email unknown', 'email', ''],
    state: ['', 'af0ifjsldkj', 's'.repeat(4096)],
    nonce: ['', 'n-0S6_WzA2Mj', 'n'.repeat(1024)],
    code_challenge: [s256],
    code_challenge_method: ['S256'],
    response_mode: ['', 'query'],
    prompt: ['', 'login', 'consent', 'none'],
    max_age: ['', '0', '1', '3600', '999999999999'],
    request: [''],
    request_uri: [''],
    approved: ['true', 'false'],
    access_token: [...tokens, 'ZZsessionZZ'],
    token: [...tokens.slice(-3), 'ZZsessionZZ'],
    grant_type: ['authorization_code', 'authorization_code', 'refresh_token'],
    code: ['ZZcodeZZ', 'ZZcodeZZ', 'A'.repeat(43)],
    code_verifier: ['ZZverifierZZ', 'v'.repeat(43)],
    client_secret: ['', confidential.secret, 'c'.repeat(32)],
  }
}

/** Members of JSON bodies whose usual values are numbers or booleans. */
const plainNames = new Set(['target_user_id', 'approved'])

/** The JSON text of a known value; without `random` always of the type that the member has. */
export const toJsonText = (name: string, value: string, random: Random | undefined): string =>
  plainNames.has(name) && value !== '' && random?.happens(0.2) !== true ? value : JSON.stringify(value)

/** What belongs together in a request that shall succeed: these replace values that were drawn alone. */
export const together: Record<string, (actors: Actors) => Record<string, string>> = {
  'POST /oauth2/token': () => ({
    grant_type: 'authorization_code',
    code: 'ZZcodeZZ',
    code_verifier: 'ZZverifierZZ',
    client_id: demoClient.clientId,
    redirect_uri: demoClient.redirectUri,
    client_secret: '',
  }),
  'POST /user/login/2fa': () => ({ login_ticket: 'ZZticketZZ', email: 'ZZemailZZ' }),
  'POST /user/login-with-password': () => ({ email: alice.email, login_password: alice.password }),
  'POST /oauth2/authorize/consent': () => authorization,
  'GET /oauth2/authorize': () => authorization,
  'GET /oauth2/authorize/request': () => authorization,
  'POST /oauth2/revoke': () => ({ client_id: 'first-party', token: 'ZZsessionZZ', client_secret: '' }),
  'POST /oauth2/authorize': () => ({ access_token: 'ZZsessionZZ', client_id: demoClient.clientId }),
  'POST /user/logout': () => ({ id: String(alice.userId) }),
  'POST /community/members/note': () => ({ target_user_id: ids[1] ?? '' }),
  'GET /address/info': () => ({ currency: 'USDT', currencyNetWork: 'TRC20' }),
}

const authorization = {
  response_type: 'code',
  client_id: demoClient.clientId,
  redirect_uri: demoClient.redirectUri,
  scope: 'openid email',
  prompt: '',
  request: '',
  request_uri: '',
}

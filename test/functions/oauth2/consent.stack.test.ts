import { describe, expect, test } from 'vitest'
import { createHash } from 'node:crypto'
import { readItem } from '../../../shared/db/read.ts'
import {
  authorizationRequest,
  createClient,
  createSession,
  issueClientToken,
} from '../../support/oauth-clients.ts'
import { deviceTokenOf, postConsent, stack } from '../../support/oauth.ts'

const client = await createClient({
  scopes: ['openid', 'email'],
  redirectUris: ['https://client.example/cb?a=b'],
})
const session = await createSession()

const request = (overrides: Record<string, string | undefined> = {}) =>
  authorizationRequest(client, { scope: 'openid email', ...overrides })

test.each([{}, { approved: true }])(
  'after approval, consent answers with a code and a redirect URL that contains the code: %j',
  async (approved) => {
    const state = ' +%&=#?/"é😀'
    const { status, body } = await postConsent(session, { ...request({ state }), ...approved })
    expect(status).toBe(200)
    expect(body).toMatchObject({ code: 0, msg: 'success' })
    const data = body['data'] as Record<string, string>
    const expected = new URLSearchParams({ code: data['code'] ?? '', state, iss: stack.base_url })
    expect(data).toEqual({
      code: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/) as string,
      redirect_to: `https://client.example/cb?a=b&${expected.toString()}`,
      state,
      iss: stack.base_url,
      expires_in: 60,
    })
  },
)

test('consent returns no state when none was sent', async () => {
  const { body } = await postConsent(session, request({ state: undefined }))
  const data = body['data'] as Record<string, string>
  expect(data).not.toHaveProperty('state')
  expect(new URL(data['redirect_to'] ?? '').searchParams.has('state')).toBe(false)
})

test('consent stores only the hash of the authorization code', async () => {
  const { body } = await postConsent(session, request())
  const { code = '' } = body['data'] as Record<string, string>
  const hash = createHash('sha256').update(code).digest('base64url')
  const stored = await readItem({ pk: `CODE#${hash}`, sk: 'CODE' }, { consistent: true })
  expect(stored).toBeDefined()
  expect(JSON.stringify(stored)).not.toContain(code)
})

test('the consent step redirects with the error access_denied if the user denies consent', async () => {
  const { status, body } = await postConsent(session, { ...request(), approved: false })
  expect(status).toBe(200)
  expect(body['data']).toEqual({ redirect_to: refusalUrl('access_denied') })
})

describe('id_token_hint (OpenID Connect Core §3.1.2.1)', () => {
  test('the user whom the hint names gets a code', async () => {
    const hint = await deviceTokenOf(session)
    const { status, body } = await postConsent(session, request({ id_token_hint: hint }))
    expect(status).toBe(200)
    expect(body['data']).toHaveProperty('code')
  })

  test('another user than the hint names gets no code: consent redirects with login_required', async () => {
    const hint = await deviceTokenOf(await createSession())
    for (const prompt of [undefined, 'none', 'login']) {
      const { status, body } = await postConsent(session, request({ id_token_hint: hint, prompt }))
      expect(status).toBe(200)
      expect(body['data']).toEqual({ redirect_to: refusalUrl('login_required') })
    }
  })

  test('a hint that is none of our tokens is refused', async () => {
    const [header, payload] = (await deviceTokenOf(session)).split('.')
    const hint = `${header ?? ''}.${payload ?? ''}.${'A'.repeat(342)}`
    const { status, body } = await postConsent(session, request({ id_token_hint: hint }))
    expect(status).toBe(400)
    expect(body['code']).toBe(40001)
  })
})

const refusalUrl = (error: string): string =>
  `https://client.example/cb?a=b&${new URLSearchParams({ error, state: 'af0ifjsldkj', iss: stack.base_url }).toString()}`

test.each([
  ['an unknown client', 40002, { client_id: 'nobody' }],
  ['no client', 40002, { client_id: undefined }],
  ['another redirect URI', 40002, { redirect_uri: 'https://client.example/cb' }],
  ['no redirect URI', 40002, { redirect_uri: '' }],
  ['no response type', 40001, { response_type: undefined }],
  ['another response type', 40001, { response_type: 'token' }],
  ['no scope', 40005, { scope: undefined }],
  ['a scope without openid', 40005, { scope: 'email' }],
  ['unknown scopes alone', 40005, { scope: 'offline_access' }],
  ['a nonce of 60,000 characters', 40001, { nonce: 'n'.repeat(60_000) }],
  ['a nonce of 1,025 characters', 40001, { nonce: 'n'.repeat(1025) }],
  ['a state of 60,000 characters', 40001, { state: 's'.repeat(60_000) }],
  ['a scope of 60,000 characters', 40001, { scope: `openid ${'s'.repeat(60_000)}` }],
  ['a max_age that is no number', 40001, { max_age: '1 hour' }],
  ['no challenge', 40001, { code_challenge: undefined }],
  ['the challenge method plain', 40001, { code_challenge_method: 'plain' }],
  ['no challenge method', 40001, { code_challenge_method: undefined }],
  ['a malformed challenge', 40001, { code_challenge: 'short' }],
])(
  'consent refuses a request with %s, whether the user approves or denies it',
  async (_why, code, overrides) => {
    for (const approved of [true, false]) {
      const { status, body } = await postConsent(session, { ...request(overrides), approved })
      expect(status).toBe(400)
      expect(body['code']).toBe(code)
      expect(body).not.toHaveProperty('error')
    }
  },
)

test.each([
  ['approved as text', { approved: 'yes' }],
  ['a number for a state', { state: 7 }],
  ['a fraction for max_age', { max_age: 0.5 }],
])('consent refuses a body with %s', async (_why, overrides) => {
  const { status, body } = await postConsent(session, { ...request(), ...overrides })
  expect(status).toBe(400)
  expect(body['code']).toBe(40001)
})

describe('a request that asks for a recent sign-in', () => {
  const signInAgain = (seconds: number) =>
    `Bearer error="insufficient_user_authentication", max_age="${seconds}"`

  // The user must sign in again.
  test.each([
    ['max_age', { max_age: '60' }, 361, 360],
    ['max_age as a number', { max_age: 60 }, 361, 360],
    ['max_age=1', { max_age: '1' }, 302, 301],
    ['max_age=0', { max_age: '0' }, 301, 300],
    ['prompt=login', { prompt: 'login' }, 301, 300],
    ['prompt=login among others', { prompt: 'consent login' }, 301, 300],
    ['prompt=login and a shorter max_age', { prompt: 'login', max_age: '60' }, 301, 300],
    ['prompt=login and a longer max_age', { prompt: 'login', max_age: '9000' }, 301, 300],
  ])(
    'consent to a request with %s is refused if the sign-in is older than it allows',
    async (_what, overrides, age, maxAge) => {
      const old = await createSession(3600, age)
      const { status, headers, body } = await postConsent(old, { ...request(), ...overrides })
      expect(status).toBe(401)
      expect(headers.get('www-authenticate')).toBe(signInAgain(maxAge))
      expect(body).toMatchObject({ code: 40100, data: null })
    },
  )

  test.each([
    ['max_age', { max_age: '60' }, 350],
    ['max_age=1, by a person who needs time to decide', { max_age: '1' }, 290],
    ['prompt=none and max_age', { prompt: 'none', max_age: '60' }, 50],
    ['prompt=none', { prompt: 'none' }, 3000],
    ['max_age of a year', { max_age: '31536000' }, 3000],
    ['max_age=0', { max_age: '0' }, 290],
    ['prompt=login', { prompt: 'login' }, 290],
    ['prompt=consent', { prompt: 'consent' }, 3000],
    ['prompt=select_account', { prompt: 'select_account' }, 3000],
    ['neither', {}, 3000],
  ])('consent to a request with %s succeeds if the sign-in is recent enough', async (_what, more, age) => {
    const recent = await createSession(3600, age)
    expect((await postConsent(recent, { ...request(), ...more })).status).toBe(200)
  })

  test.each([
    ['max_age', { max_age: '60' }, 61],
    ['max_age=0', { max_age: '0' }, 1],
  ])(
    'with prompt=none and %s, an older sign-in redirects with login_required at once',
    async (_what, overrides, age) => {
      const old = await createSession(3600, age)
      const { status, body } = await postConsent(old, request({ prompt: 'none', ...overrides }))
      expect(status).toBe(200)
      expect(body['data']).toEqual({ redirect_to: refusalUrl('login_required') })
    },
  )

  test('a user whose sign-in is too old for the request can still deny it', async () => {
    const old = await createSession(3600, 301)
    const { status } = await postConsent(old, { ...request({ prompt: 'login' }), approved: false })
    expect(status).toBe(200)
  })
})

test('consent with a client’s access_token is refused', async () => {
  const accessToken = await issueClientToken(session, client)
  const { status, headers, body } = await postConsent({ ...session, accessToken }, request())
  expect(status).toBe(403)
  expect(headers.get('www-authenticate')).toBe('Bearer error="insufficient_scope"')
  expect(body['code']).toBe(40300)
})

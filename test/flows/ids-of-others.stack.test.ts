import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { handler as depositUpdated } from '../../functions/intake/deposit.updated.ts'
import { handler as walletAdjusted } from '../../functions/intake/wallet.adjusted.ts'
import { handler as withdrawalUpdated } from '../../functions/intake/withdrawal.updated.ts'
import { inputSchema, members } from '../../infra/openapi/schemas.ts'
import { type Route, routes } from '../../infra/routes.ts'
import { depositId } from '../../shared/deposits/deposit.ts'
import { issueAccessToken } from '../../shared/tokens/access-token.ts'
import { scopes } from '../../shared/tokens/scopes.ts'
import { applyEvent } from '../support/apply-event.ts'
import { loadEndpoint } from '../support/call-endpoint.ts'
import { createAccessToken } from '../support/community.ts'
import { addDepositor, deposit } from '../support/deposits.ts'
import { addUser, adjustment } from '../support/ledger.ts'
import { addLoginTicket } from '../support/login-tickets.ts'
import { address, obtainCode } from '../support/oauth.ts'
import {
  authorizationRequest,
  bearer,
  createClient,
  createSession,
  issueClientToken,
} from '../support/oauth-clients.ts'
import { createUser } from '../support/sign-in.ts'
import { joinFamily, newFamily } from '../infra/grants/family.ts'

/** A user id that is not registered. */
const nobody = 2 ** 52 + randomInt(2 ** 40)

/** Makes up a code, ticket, secret or id that was never issued. */
const unknownText = () => randomBytes(32).toString('base64url')

interface Named {
  path?: string
  query?: Record<string, string>
  body?: object
  form?: Record<string, string>
  token?: string
}

/** Two requests that differ only in an id. One id names another user's data, and the other names nothing. */
type Pair = [others: Named, nobodys: Named]

/** Creates pairs of requests for each route whose input can name another user's data. */
const pairs: Record<string, () => Promise<Pair[]>> = {
  async 'GET /withdrawal/get/{id}'() {
    const [owner, { accessToken: token }] = [await addUser(), await createSession()]
    await applyEvent(walletAdjusted, adjustment(owner))
    const id = randomUUID()
    const requested = { currency: 'USDT', amount: '1', status: 'requested', at: Date.now() }
    await applyEvent(withdrawalUpdated, { withdrawal_id: id, user_id: owner, ...requested })
    const get = (one: string) => ({ path: `/withdrawal/get/${one}`, token })
    return [[get(id), get(randomUUID())]]
  },
  async 'GET /deposit/get/{id}'() {
    const { accessToken: token } = await createSession()
    const detail = deposit((await addDepositor()).address)
    await applyEvent(depositUpdated, detail)
    const { currency_network: network, txid, output_index: outputIndex } = detail
    const get = (id: string) => ({ path: `/deposit/get/${id}`, token })
    return [[get(depositId({ network, txid, outputIndex })), get(unknownText())]]
  },
  async 'POST /user/logout'() {
    const { accessToken: token } = await createSession()
    const logout = (id: number) => ({ body: { id: String(id) }, token })
    return [[logout(await addUser()), logout(nobody)]]
  },
  async 'POST /community/members/note'() {
    const { parent, child } = await joinFamily()
    const note = (token: string, target: number) => ({ body: { target_user_id: target, note: 'n' }, token })
    const [stranger, own] = await Promise.all([
      createAccessToken(nobody, [...scopes]),
      createAccessToken(child, [...scopes]),
    ])
    return [
      [note(stranger, child), note(stranger, nobody)],
      [note(own, parent), note(own, nobody)],
    ]
  },
  async 'GET /community/members'() {
    const [{ token }, { email }] = [await newFamily(), await createUser()]
    const search = (keyword: string) => ({
      query: { current: '1', size: '20', type: 'COMMUNITY', keyword },
      token,
    })
    return [[search(email), search(`nobody-${nobody}@example.com`)]]
  },
  async 'GET /community/members/export'() {
    const [{ token }, { email }] = [await newFamily(), await createUser()]
    const search = (keyword: string) => ({ query: { type: 'COMMUNITY', keyword }, token })
    return [[search(email), search(`nobody-${nobody}@example.com`)]]
  },
  async 'POST /user/login-with-password'() {
    const [{ email }, disabled] = [await createUser(), await createUser({ login_password: undefined })]
    const login = (to: string) => ({ body: { email: to, login_password: '0'.repeat(32) } })
    const missing = login(`nobody-${nobody}@example.com`)
    return [
      [login(email), missing],
      [login(disabled.email), missing],
    ]
  },
  async 'POST /user/login/2fa'() {
    const [user, other] = [await createUser(), await createUser()]
    const ticket = await addLoginTicket(user, '123456')
    const verify = (email: string, login_ticket: string) => ({
      body: { email, login_ticket, method: 'EMAIL', validate_code: '123456' },
    })
    return [[verify(other.email, ticket), verify(other.email, `lt_${nobody.toString(36)}.${unknownText()}`)]]
  },
  async 'POST /oauth2/token'() {
    const [own, other] = [await createClient(), await createClient()]
    const confidential = await createClient({ secret: unknownText() })
    const { exchange } = await obtainCode(other, await createSession())
    const asOwn = { ...exchange, client_id: own.clientId }
    const asClient = (client_id: string) => ({ form: { ...asOwn, client_id, client_secret: unknownText() } })
    return [
      [{ form: asOwn }, { form: { ...asOwn, code: unknownText() } }],
      [asClient(confidential.clientId), asClient('nobody')],
    ]
  },
  async 'POST /oauth2/revoke'() {
    const confidential = await createClient({ secret: unknownText() })
    const token = await issueClientToken(await createSession(), confidential)
    const revoke = (client_id: string) => ({ form: { token, client_id, client_secret: unknownText() } })
    return [[revoke(confidential.clientId), revoke('nobody')]]
  },
  async 'POST /oauth2/authorize'() {
    const { userId } = await createSession()
    return [[{ body: { access_token: lookalike(userId) } }, { body: { access_token: lookalike(nobody) } }]]
  },
  'GET /oauth2/authorize': async () => [asQuery(await wrongRedirects())],
  'GET /oauth2/authorize/request': async () => [asQuery(await wrongRedirects())],
  async 'GET /oauth2/sign-out/request'() {
    const { clientId } = await createClient()
    const returns = { post_logout_redirect_uri: 'https://elsewhere.example/' }
    return [asQuery([clientId, 'nobody'].map((client_id) => ({ client_id, ...returns })))]
  },
  async 'POST /oauth2/authorize/consent'() {
    const { accessToken: token } = await createSession()
    return [(await wrongRedirects()).map((body) => ({ body, token })) as Pair]
  },
}

/** Two authorization requests with an unregistered redirect URI. Only one of their clients is registered. */
async function wrongRedirects(): Promise<Record<string, string>[]> {
  const client = await createClient()
  const request = authorizationRequest({ ...client, redirectUri: 'https://elsewhere.example/' })
  return [request, { ...request, client_id: 'nobody' }]
}

const asQuery = (pair: Record<string, string>[]) => pair.map((query) => ({ query })) as Pair

/** A text that looks like an access_token of a user, but was never issued. */
const lookalike = (userId: number): string =>
  issueAccessToken({
    userId,
    clientId: 'first-party',
    scopes,
    firstParty: true,
    expiresAt: 0,
    authenticatedAt: 0,
  }).accessToken

/** Sends a request. Returns the answer without request ids and date, which always differ. */
async function ask(method: string, path: string, { query, body, form, token, ...named }: Named) {
  const search = query === undefined ? '' : `?${new URLSearchParams(query).toString()}`
  const content = form === undefined ? body && JSON.stringify(body) : new URLSearchParams(form).toString()
  const response = await fetch(address((named.path ?? path) + search), {
    method,
    redirect: 'manual',
    headers: {
      ...(token === undefined ? {} : bearer(token)),
      'content-type': form === undefined ? 'application/json' : 'application/x-www-form-urlencoded',
    },
    ...(content === undefined ? {} : { body: content }),
  })
  const ignored = ['x-request-id', 'apigw-requestid', 'date']
  const headers = [...response.headers].filter(([name]) => !ignored.includes(name))
  return { status: response.status, headers, body: await response.text() }
}

const described = routes.filter(({ method }) => method !== 'HEAD')
const signedIn = described.filter((route) => route.public !== true)

const keyOf = ({ method, path }: Route): string => `${method} ${path}`

/** Parameters that only filter the caller's own data. */
const filters = new Set([
  ...['current', 'size', 'type', 'beginDate', 'endDate', 'beginTime', 'endTime'],
  ...['currency', 'currencyNetWork', 'amountDirection', 'businessId'],
])

/** A session that has expired. */
const ended = createSession(-10)

it.each(Object.keys(pairs))(
  'another user’s id gets the same answer as one that does not exist: %s',
  async (key) => {
    const [method = '', path = ''] = key.split(' ')
    for (const [others, nobodys] of (await pairs[key]?.()) ?? [])
      expect(await ask(method, path, others)).toEqual(await ask(method, path, nobodys))
  },
)

it.each(signedIn)(
  'a made-up or expired access_token gets the same answer whether its user exists or not: $method $path',
  async ({ method, path }) => {
    const { userId, accessToken: expired } = await ended
    const nobodys = await ask(method, path, { token: lookalike(nobody) })
    expect(await ask(method, path, { token: lookalike(userId) })).toEqual(nobodys)
    expect(await ask(method, path, { token: expired })).toEqual(nobodys)
  },
)

it('every public route has a test with another user’s id, unless it serves a public document', () => {
  const open = described.filter((route) => route.public && !route.path.startsWith('/.well-known/'))
  expect(open.map(keyOf).filter((key) => !(key in pairs))).toEqual([])
})

it('every route for signed-in users has a test with another user’s id, unless its input has only filters', async () => {
  const routesWithoutPair = signedIn.filter((route) => !(keyOf(route) in pairs))
  const inputs = routesWithoutPair.map(async (route) => {
    const input = inputSchema((await loadEndpoint(route.entry)).description.input)
    const names = ['path', 'query', 'body'].flatMap((part) => members(input, part).map(({ name }) => name))
    return names.filter((name) => !filters.has(name)).map((name) => `${keyOf(route)}: ${name}`)
  })
  expect((await Promise.all(inputs)).flat()).toEqual([])
})

import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { countCalls } from '../operations/measure-operations.ts'
import type { Row, Table } from '../table.ts'
import { installPackage } from './install-package.ts'

/** The part of oidc-provider that the comparison uses. */
type ProviderClass = new (issuer: string, configuration: object) => { callback: () => RequestListener }

/** The operations of our own code flow, in the order of its requests. */
const ownRequests = [
  'GET /oauth2/authorize',
  'POST /user/login-with-password, authenticator',
  'POST /user/login/2fa, authenticator',
  'POST /oauth2/authorize/consent',
  'POST /oauth2/token',
]

/** Counts the requests and storage calls of a code-flow sign-in, for this service and for oidc-provider. */
export async function measureCodeFlow(): Promise<Table> {
  let storageCalls = 0
  for (const title of ownRequests) storageCalls += countCalls(title, 'DynamoDBDocument')
  const own = { 'code flow': 'this service', requests: ownRequests.length, 'storage calls': storageCalls }
  const modules = await installPackage('oidc-provider')
  const other: Row =
    modules === undefined ? { 'code flow': 'oidc-provider: absent' } : await countProviderFlow(modules)
  const notes = [
    'From the first request to the tokens, with PKCE and consent. Storage calls: of DynamoDB, or of the adapter of',
    'oidc-provider, whose keys are in its memory and whose users are not looked up. Ours has a second factor.',
  ]
  return { name: 'code-flow', title: 'A sign-in by the code flow', notes, rows: [own, other] }
}

const redirectUri = 'http://127.0.0.1:1/callback'

async function countProviderFlow(modules: string): Promise<Row> {
  const file = createRequire(join(modules, 'bench.mjs')).resolve('oidc-provider')
  const { default: Provider } = (await import(pathToFileURL(file).href)) as { default: ProviderClass }
  const storage = { calls: 0 }
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = {
    client_id: 'bench',
    redirect_uris: [redirectUri],
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code'],
    response_types: ['code'],
  }
  // Hides the provider's warnings for development, for example about its built-in keys.
  const { warn, info } = console
  Object.assign(console, { warn: () => undefined, info: () => undefined })
  const provider = new Provider(issuer, {
    clients: [client],
    adapter: countingAdapter(storage),
    cookies: { keys: [randomBytes(16).toString('hex')] },
    pkce: { required: () => true },
    findAccount: (_context: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
  })
  server.on('request', provider.callback())
  try {
    const requests = await signInAtProvider(issuer)
    return { 'code flow': 'oidc-provider', requests, 'storage calls': storage.calls }
  } finally {
    Object.assign(console, { warn, info })
    server.close()
    server.closeAllConnections()
  }
}

/** An in-memory storage adapter for oidc-provider that counts the calls to it. */
function countingAdapter(storage: { calls: number }) {
  const items = new Map<string, Record<string, unknown>>()
  return (name: string) => {
    const key = (id: string) => `${name} ${id}`
    const find = (id: string) => items.get(key(id))
    const operations: Record<string, (id: string, payload: Record<string, unknown>) => unknown> = {
      upsert: (id, payload) => void items.set(key(id), payload),
      find,
      findByUid: (uid) => [...items].find(([id, item]) => id.startsWith(name) && item['uid'] === uid)?.[1],
      consume: (id) => void Object.assign(find(id) ?? {}, { consumed: Math.floor(Date.now() / 1000) }),
      destroy: (id) => void items.delete(key(id)),
      revokeByGrantId: () => undefined,
    }
    const counted = Object.entries(operations).map(([operation, perform]) => [
      operation,
      async (id: string, payload: Record<string, unknown>) => {
        storage.calls += 1
        return perform(id, payload)
      },
    ])
    return Object.fromEntries(counted) as object
  }
}

/** Signs in on oidc-provider's development pages as a browser does, and counts the requests. */
async function signInAtProvider(issuer: string): Promise<number> {
  const cookies = new Map<string, string>()
  let requests = 0
  const send = async (url: string, form?: Record<string, string>): Promise<Response> => {
    requests += 1
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(new URL(url, issuer), {
      redirect: 'manual',
      headers: { cookie },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    })
    for (const text of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? []
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    return response
  }
  const locationOf = (response: Response): string => {
    const location = response.headers.get('location')
    if (location === null) throw new Error(`oidc-provider answered ${response.status} without a redirect`)
    return location
  }
  const verifier = randomBytes(32).toString('base64url')
  const query = new URLSearchParams({
    client_id: 'bench',
    response_type: 'code',
    redirect_uri: redirectUri,
    scope: 'openid',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  let location = locationOf(await send(`/auth?${query.toString()}`))
  for (const form of [{ prompt: 'login', login: 'somebody', password: 'any' }, { prompt: 'consent' }]) {
    const page = await (await send(location)).text()
    const action = /<form[^>]+action="([^"]+)"/.exec(page)?.[1] ?? location
    location = locationOf(await send(locationOf(await send(action, form))))
  }
  const code = new URL(location).searchParams.get('code') ?? ''
  const tokens = await send('/token', {
    grant_type: 'authorization_code',
    client_id: 'bench',
    redirect_uri: redirectUri,
    code,
    code_verifier: verifier,
  })
  if (tokens.status !== 200)
    throw new Error(`oidc-provider answered ${tokens.status}: ${await tokens.text()}`)
  return requests
}

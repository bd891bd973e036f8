// The code flow of oidc-provider, on a server in this process. The handler tells what the server has cost.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import Provider from 'oidc-provider'

// Hides the provider's warnings for development, for example about its built-in keys.
Object.assign(console, { warn: () => undefined, info: () => undefined })

let storageCalls = 0

/** A storage adapter in memory that counts the calls to it. */
function countingAdapter(name) {
  const find = (id) => items.get(`${name} ${id}`)
  const operations = {
    upsert: (id, payload) => void items.set(`${name} ${id}`, payload),
    find,
    findByUid: (uid) => [...items].find(([key, item]) => key.startsWith(`${name} `) && item.uid === uid)?.[1],
    consume: (id) => void Object.assign(find(id) ?? {}, { consumed: Math.floor(Date.now() / 1000) }),
    destroy: (id) => void items.delete(`${name} ${id}`),
    revokeByGrantId: () => undefined,
  }
  const counted = Object.entries(operations).map(([operation, perform]) => [
    operation,
    async (...values) => {
      storageCalls += 1
      return perform(...values)
    },
  ])
  return Object.fromEntries(counted)
}
const items = new Map()

const redirectUri = 'http://127.0.0.1:1/callback'
const server = createServer()
await once(server.listen(0, '127.0.0.1'), 'listening')
const issuer = `http://127.0.0.1:${server.address().port}`
const provider = new Provider(issuer, {
  clients: [
    {
      client_id: 'bench',
      redirect_uris: [redirectUri],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code'],
      response_types: ['code'],
    },
  ],
  adapter: countingAdapter,
  cookies: { keys: [randomBytes(16).toString('hex')] },
  pkce: { required: () => true },
  findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
})
server.on('request', provider.callback())

/** Forgets what earlier sign-ins have stored, and returns the costs up to now. */
export const handler = async () => {
  items.clear()
  const { user, system } = process.cpuUsage()
  return { issuer, redirectUri, storageCalls, milliseconds: (user + system) / 1000 }
}

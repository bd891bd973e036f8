import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { transact } from '../../../shared/db/write.ts'
import {
  authenticateClient,
  macClientSecret,
  readClientCredentials,
} from '../../../shared/oauth/client-authentication.ts'
import { putClient } from '../../../shared/oauth/client.ts'

const secret = 'a+client%20secret of 34 characters'

async function register(clientId: string): Promise<string> {
  const secretMac = await macClientSecret(clientId, secret)
  const registered = { name: clientId, redirectUris: [], scopes: [], updatedAt: Date.now() }
  await transact([putClient({ clientId, secretMac, pkce: 'required', ...registered })])
  return clientId
}

/** Authenticates by HTTP Basic with this user name and password; resolves with the client's id. */
async function authenticate(user: string, password: string, client_id?: string): Promise<string> {
  const header = Buffer.from(`${user}:${password}`).toString('base64')
  const { clientId } = await authenticateClient(
    readClientCredentials({ client_id }, { authorization: () => header }),
  )
  return clientId
}

test.each(['plus+id', 'percent%41id', 'percent%id', 'both+%2B'])(
  'the client %s authenticates by HTTP Basic, whether it form-encodes its id and secret or not',
  async (name) => {
    const clientId = await register(`${name}-${randomUUID()}`)
    for (const user of [clientId, encodeURIComponent(clientId)])
      for (const password of [secret, encodeURIComponent(secret)]) {
        expect(await authenticate(user, password)).toBe(clientId)
        expect(await authenticate(user, password, clientId)).toBe(clientId)
      }
  },
)

test('of two clients that one user name could mean, the one authenticates whose secret was sent', async () => {
  const id = randomUUID()
  const encoded = await register(`a%41${id}`)
  expect(await authenticate(encoded, secret)).toBe(encoded)
  const decoded = await register(`aA${id}`)
  expect(await authenticate(encodeURIComponent(encoded), secret)).toBe(encoded)
  expect(await authenticate(decoded, secret)).toBe(decoded)
  await expect(authenticate(encoded, secret, `a+${id}`)).rejects.toMatchObject({
    failure: 'invalid_parameter',
  })
  expect(await authenticate(encoded, secret, encoded)).toBe(encoded)
})

test('a wrong secret authenticates no reading of a client_id', async () => {
  const clientId = await register(`plus+${randomUUID()}`)
  for (const user of [clientId, encodeURIComponent(clientId)])
    await expect(authenticate(user, `${secret}.`)).rejects.toMatchObject({ failure: 'invalid_client' })
})

import { KMSClient } from '@aws-sdk/client-kms'
import { expect, test, vi } from 'vitest'
import { db } from '../../../shared/db/table.ts'
import { handleTokenRequest } from '../../../shared/oauth/token-endpoint.ts'
import { revokeToken } from '../../../shared/tokens/session.ts'
import { measureCalls } from '../../support/measure-calls.ts'
import { createClient, createSession, type SignedIn, type TestClient } from '../../support/oauth-clients.ts'
import { getUserinfo, obtainCode } from '../../support/oauth.ts'

type Exchange = () => ReturnType<typeof handleTokenRequest>

const request = { authorization: () => undefined }

/** Obtains a code, and returns a function that exchanges the code. */
async function prepare(session?: SignedIn): Promise<Exchange> {
  const client = await createClient()
  const { exchange } = await obtainCode(client, session ?? (await createSession()))
  return () => handleTokenRequest(exchange, request)
}

const namesOf = (spy: { mock: { calls: unknown[][] } }): string[] =>
  spy.mock.calls.map(([command]) => (command as object).constructor.name)

const send = Reflect.get(KMSClient.prototype, 'send') as (
  this: KMSClient,
  command: unknown,
) => Promise<unknown>

function beforeSigning(ready: () => Promise<unknown>): void {
  const spy = vi.spyOn(KMSClient.prototype, 'send')
  const sendWhenReady = async function (this: KMSClient, command: unknown) {
    await ready()
    return send.call(this, command)
  }
  spy.mockImplementation(sendWhenReady as never)
}

test('exchanging a code takes one KMS signature and one write, and replaying the code takes no signature', async () => {
  const exchange = await prepare()
  const kms = vi.spyOn(KMSClient.prototype, 'send')
  const table = vi.spyOn(db, 'send')
  await exchange()
  expect(namesOf(kms)).toEqual(['SignCommand'])
  expect(namesOf(table).filter((name) => !/^(Get|Query)/.test(name))).toEqual(['TransactWriteCommand'])
  await expect(exchange()).rejects.toMatchObject({ failure: 'invalid_grant' })
  expect(namesOf(kms)).toEqual(['SignCommand'])
})

test('for a confidential client, the exchange of a code makes one additional KMS call: GenerateMac', async () => {
  const calls = async (client: TestClient): Promise<string[]> => {
    const { exchange } = await obtainCode(client, await createSession())
    return (await measureCalls(() => handleTokenRequest(exchange, request))).names.sort()
  }
  const secret = 'a client secret of 34 characters!!'
  const expected = [...(await calls(await createClient())), 'GenerateMac'].sort()
  expect(await calls(await createClient({ secret }))).toEqual(expected)
})

test('an authorization code stays unused if KMS cannot sign the token', async () => {
  const exchange = await prepare()
  vi.spyOn(KMSClient.prototype, 'send').mockRejectedValueOnce(new Error('down'))
  await expect(exchange()).rejects.toThrow('down')
  expect(await exchange()).toMatchObject({ token_type: 'Bearer' })
})

test('of five simultaneous exchanges of one code, one gets an access_token; the others revoke it', async () => {
  const exchange = await prepare()
  let arrived = 0
  const all = Promise.withResolvers<undefined>()
  beforeSigning(async () => {
    arrived += 1
    if (arrived === 5) all.resolve(undefined)
    return all.promise
  })
  const results = await Promise.allSettled(Array.from({ length: 5 }, exchange))
  const won = results.filter((result) => result.status === 'fulfilled')
  expect(won).toHaveLength(1)
  for (const result of results)
    if (result.status === 'rejected') expect(result.reason).toMatchObject({ failure: 'invalid_grant' })
  expect((await getUserinfo(won[0]?.value.access_token ?? '')).status).toBe(401)
})

test('the exchange of an authorization code fails if the user logs out during the exchange', async () => {
  const session = await createSession()
  const exchange = await prepare(session)
  beforeSigning(() => revokeToken(session.accessToken, 'first-party'))
  await expect(exchange()).rejects.toMatchObject({ failure: 'invalid_grant' })
})

import type { Context } from 'aws-lambda'
import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { handler as rotate } from '../../../functions/schedule/rotate-signing-keys.ts'
import { handler } from '../../../functions/well-known/jwks.ts'
import { activeKey, readKeySet } from '../../../shared/keys/set.ts'
import { getEvent } from '../../support/call-endpoint.ts'
import { measureCalls } from '../../support/measure-calls.ts'
import { useOwnKeys } from '../../support/own-keys.ts'

useOwnKeys()

// Moves the clock before each test, so that requests of the previous test do not count as heavy traffic.
let now = Date.now()
beforeEach(() => vi.useFakeTimers({ toFake: ['Date'], now: (now += 10_000) }))
const get = (headers: Record<string, string> = {}) =>
  handler(getEvent('/.well-known/jwks.json', headers), {} as Context)

beforeAll(async () => {
  expect((await get()).statusCode).toBe(503)
  await rotate({}, { awsRequestId: randomUUID() })
  await rotate({ action: 'rotate' }, { awsRequestId: randomUUID() })
})

it('the JWKS contains the signing key and its successor, both at the top level and in `data`', async () => {
  const answer = await get()
  const body = JSON.parse(answer.body ?? '') as { keys: object[]; data: object; code: number; msg: string }
  expect(answer.statusCode).toBe(200)
  expect(body).toMatchObject({ code: 0, msg: 'success', data: { keys: body.keys } })
  expect(body.keys).toHaveLength(2)
})

it('the JWKS is sent as JSON with an ETag', async () => {
  const etag = expect.stringMatching(/^"[^"]+"$/) as string
  expect((await get()).headers).toMatchObject({ 'content-type': 'application/json', etag })
})

it('the JWKS can be cached for the configured time', async () => {
  const { headers } = await get()
  expect(headers).toMatchObject({ 'cache-control': 'public, max-age=300' })
  expect(headers).not.toHaveProperty('pragma')
})

it.each(['TAG', 'W/TAG', '"other", TAG', '*'])(
  'the JWKS endpoint answers 304 to if-none-match: %s',
  async (sent) => {
    const etag = String((await get()).headers?.['etag'])
    const answer = await get({ 'if-none-match': sent.replace('TAG', etag) })
    const headers = { etag, 'cache-control': 'public, max-age=300' }
    expect(answer).toMatchObject({ statusCode: 304, body: '', headers })
    expect(answer.headers).not.toHaveProperty('content-type')
  },
)

it('the JWKS endpoint answers 200 to an if-none-match header that lacks the current ETag', async () => {
  expect((await get({ 'if-none-match': '"other"' })).statusCode).toBe(200)
})

const kids = async () =>
  (JSON.parse((await get()).body ?? '') as { keys: { kid: string }[] }).keys.map(({ kid }) => kid)
const signer = async () => activeKey(await readKeySet())?.kid

it('an emergency rotation or a revocation changes the JWKS at once', async () => {
  const old = await signer()
  expect(await kids()).toContain(old)
  await rotate({ action: 'rotate', emergency: true }, { awsRequestId: randomUUID() })
  expect(await kids()).toContain(await signer())
  await rotate({ action: 'revoke', kid: old }, { awsRequestId: randomUUID() })
  expect(await kids()).not.toContain(old)
})

it('under heavy traffic, the JWKS is read once a second, so a revoked key is gone within two', async () => {
  const ask = async (times: number) => {
    for (let i = 0; i < times; i += 1) await get()
  }
  const revoked = await signer()
  expect((await measureCalls(() => ask(300))).names).toEqual(Array(10).fill('GetItem'))
  await rotate({ action: 'rotate', emergency: true }, { awsRequestId: randomUUID() })
  await rotate({ action: 'revoke', kid: revoked }, { awsRequestId: randomUUID() })
  vi.setSystemTime(Date.now() + 500)
  expect((await measureCalls(() => ask(300))).names).toEqual([])
  vi.setSystemTime(Date.now() + 500)
  expect((await measureCalls(() => ask(300))).names).toEqual(['GetItem'])
  expect(await kids()).not.toContain(revoked)
})

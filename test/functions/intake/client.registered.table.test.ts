import { randomUUID } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { handler } from '../../../functions/intake/client.registered.ts'
import { readItem } from '../../../shared/db/read.ts'
import { eventRecord } from '../../../shared/events/event-record.ts'
import { readClient } from '../../../shared/oauth/client.ts'
import { isClientSecret } from '../../../shared/oauth/client-authentication.ts'
import { applyEvent } from '../../support/apply-event.ts'
import { deliver, refusedAs } from '../../support/deliver.ts'

const detailType = 'client.registered'
const registration = (overrides: Record<string, unknown> = {}) => ({
  client_id: `client-${randomUUID()}`,
  updated_at: 1_700_000_000_000,
  name: 'A client',
  redirect_uris: ['https://client.example/callback'],
  scopes: ['openid', 'email'],
  ...overrides,
})

const secret = 'a client secret of 34 characters!!'

test('client.registered stores the client, with its secret only as a MAC', async () => {
  const detail = registration({ secret })
  await deliver(handler, detail)
  const client = await readClient(detail.client_id)
  expect(client).toMatchObject({
    clientId: detail.client_id,
    name: 'A client',
    redirectUris: ['https://client.example/callback'],
    scopes: ['openid', 'email'],
  })
  expect(JSON.stringify(client)).not.toContain(secret)
  const mac = client?.secretMac ?? ''
  expect(await isClientSecret(detail.client_id, secret, mac)).toBe(true)
  expect(await isClientSecret('another', secret, mac), 'of another client').toBe(false)
})

// So nobody can guess the client secret from a stolen table.
test('the stored digest of a client.registered event is a MAC', async () => {
  const detail = registration({ secret })
  await deliver(handler, detail)
  const { businessKey, digest } = eventRecord(detailType, `${detail.client_id}#${detail.updated_at}`, detail)
  const Key = { pk: `EVT#${detailType}#${businessKey}`, sk: 'EVT' }
  const stored = await readItem(Key, { consistent: true })
  expect(stored?.['digest']).toMatch(/^[A-Za-z0-9_-]{43}$/)
  expect(stored?.['digest']).not.toBe(digest)
})

test.each([{}, { secret: null }])('a client registered without a secret is public: %j', async (overrides) => {
  const detail = registration(overrides)
  await deliver(handler, detail)
  expect((await readClient(detail.client_id))?.secretMac).toBeUndefined()
})

test.each([
  ['in order', (earlier: object, later: object) => [earlier, later, later]],
  ['out of order', (earlier: object, later: object) => [later, earlier, earlier]],
])('the later of two registrations of one client wins when they arrive %s', async (_order, arrange) => {
  const earlier = registration({ secret, redirect_uris: ['https://client.example/old'] })
  const later = { ...earlier, updated_at: earlier.updated_at + 1, secret: undefined, redirect_uris: [] }
  for (const detail of arrange(earlier, later)) expect(await deliver(handler, detail)).toBe('done')
  expect(await readClient(earlier.client_id)).toMatchObject({ redirectUris: [], updatedAt: later.updated_at })
  expect((await readClient(earlier.client_id))?.secretMac).toBeUndefined()
})

test('a registration of a clock that is ahead does not hide one that comes after it', async () => {
  const ahead = registration({ updated_at: Date.now() + 240_000, name: 'Ahead' })
  expect(await deliver(handler, ahead)).toBe('done')
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 1_000 })
  const next = { ...ahead, updated_at: Date.now(), name: 'Next' }
  expect(await deliver(handler, next)).toBe('done')
  vi.useRealTimers()
  expect((await readClient(ahead.client_id))?.name).toBe('Next')
})

test('a client.registered event that reuses a business key with other content is refused', async () => {
  const detail = registration()
  await deliver(handler, detail)
  expect(await deliver(handler, { ...detail, name: 'Another name' })).toEqual(
    refusedAs('conflicting_content'),
  )
  expect((await readClient(detail.client_id))?.name).toBe('A client')
})

test.each([
  ['a redirect URI over plain http', { redirect_uris: ['http://client.example/'] }, 'redirect_uris.0'],
  ['an unknown scope', { scopes: ['openid', 'admin'] }, 'scopes.1'],
  ['a blank name', { name: ' ' }, 'name'],
  ['an updated_at that is not a number', { updated_at: '2026-01-01' }, 'updated_at'],
  ['a name with a right-to-left override', { name: 'Bank\u202eknaB' }, 'name'],
  ['an unprintable secret', { secret: `${secret}\n` }, 'secret'],
  ['a secret of 31 characters', { secret: 'x'.repeat(31) }, 'secret'],
  ['a secret of 513 characters', { secret: 'x'.repeat(513) }, 'secret'],
  ['an empty secret', { secret: '' }, 'secret'],
  ['optional PKCE but no secret', { pkce: 'optional' }, 'pkce'],
  ['PKCE off but no secret', { pkce: 'off' }, 'pkce'],
  ['an unknown value of pkce', { secret, pkce: 'none' }, 'pkce'],
  [
    'a sign-out address over plain http',
    { post_logout_redirect_uris: ['http://client.example/'] },
    'post_logout_redirect_uris.0',
  ],
])('a client registration with %s is refused', async (_why, overrides, field) => {
  const detail = registration(overrides)
  expect(await deliver(handler, detail)).toEqual(refusedAs(`invalid_detail: ${field} `))
  expect(await readClient(detail.client_id)).toBeUndefined()
})

test('the service’s own client exists without registration and has no redirect URI', async () => {
  expect(await readClient('first-party')).toMatchObject({ redirectUris: [], clientId: 'first-party' })
})

test.each([
  [{ secret, pkce: 'optional' }, 'optional'],
  [{ secret, pkce: 'off' }, 'off'],
  [{ secret, pkce: 'required' }, 'required'],
  [{ secret, pkce: null }, 'required'],
  [{ pkce: 'required' }, 'required'],
])('a client must use PKCE unless it is registered otherwise: %j', async (overrides, pkce) => {
  const detail = registration(overrides)
  expect(await deliver(handler, detail)).toBe('done')
  expect((await readClient(detail.client_id))?.pkce).toBe(pkce)
})

test('a registration that states the default of pkce repeats one that leaves it out', async () => {
  const detail = registration()
  expect(await applyEvent(handler, detail)).toBe('applied')
  expect(await applyEvent(handler, { ...detail, pkce: 'required' })).toBe('duplicate')
})

test('client.registered stores where a sign-out may return to', async () => {
  const uris = ['https://client.example/bye', 'com.example.app:/bye']
  const detail = registration({ post_logout_redirect_uris: uris })
  await deliver(handler, detail)
  expect((await readClient(detail.client_id))?.postLogoutRedirectUris).toEqual(uris)
})

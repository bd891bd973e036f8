import type { Context } from 'aws-lambda'
import { beforeEach, expect, it, vi } from 'vitest'
import { handler } from '../../../functions/well-known/openid-configuration.ts'
import { routes } from '../../../infra/routes.ts'
import { issuer } from '../../../shared/env.ts'
import { getEvent } from '../../support/call-endpoint.ts'

beforeEach(() => {
  vi.stubEnv('BASE_URL', 'https://issuer.example.com/')
})

const read = async () => {
  const answer = await handler(getEvent('/.well-known/openid-configuration'), {} as Context)
  return { answer, document: JSON.parse(answer.body ?? '') as Record<string, unknown> }
}

it('every endpoint that the discovery document names has a route', async () => {
  const { document } = await read()
  expect(document['issuer']).toBe('https://issuer.example.com')
  const endpoints = Object.entries(document).filter(([name]) => /_(endpoint|uri)$/.test(name))
  expect(endpoints.length).toBeGreaterThan(4)
  const paths = routes.map(({ path }) => path)
  for (const [, address] of endpoints) expect(paths).toContain(String(address).replace(issuer(), ''))
})

it('the discovery document can be cached, and a request for it with a matching if-none-match is answered 304', async () => {
  const { answer } = await read()
  const etag = String(answer.headers?.['etag'])
  expect(answer.headers?.['cache-control']).toBe('public, max-age=300')
  const again = await handler(
    getEvent('/.well-known/openid-configuration', { 'if-none-match': etag }),
    {} as Context,
  )
  expect(again.statusCode).toBe(304)
})

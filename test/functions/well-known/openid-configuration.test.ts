import type { Context } from 'aws-lambda'
import { expect, it, vi } from 'vitest'
import { handler } from '../../../functions/well-known/openid-configuration.ts'
import { routes } from '../../../infra/routes.ts'
import { issuer } from '../../../shared/env.ts'
import { getEvent } from '../../support/call-endpoint.ts'

it('the discovery document can be cached, and every endpoint that it names has a route', async () => {
  vi.stubEnv('BASE_URL', 'https://issuer.example.com/')
  const answer = await handler(getEvent('/.well-known/openid-configuration'), {} as Context)
  expect(answer.headers?.['cache-control']).toBe('public, max-age=300')
  const document = JSON.parse(answer.body ?? '') as Record<string, unknown>
  expect(document['issuer']).toBe('https://issuer.example.com')
  const endpoints = Object.entries(document).filter(([name]) => /_(endpoint|uri)$/.test(name))
  expect(endpoints.length).toBeGreaterThan(4)
  const paths = routes.map(({ path }) => path)
  for (const [, address] of endpoints) expect(paths).toContain(String(address).replace(issuer(), ''))
})

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
  // Browsers are sent to the sign-out page, which is no route of the API.
  expect(document).not.toHaveProperty('end_session_endpoint')
  const paths = routes.map(({ path }) => path)
  for (const [, address] of endpoints) expect(paths).toContain(String(address).replace(issuer(), ''))
})

it('the discovery document names the sign-out page of a deployment that has one, and says what is not supported', async () => {
  vi.stubEnv('BASE_URL', 'https://issuer.example.com')
  vi.stubEnv('SIGN_OUT_URL', 'https://login.example.com/sign-out')
  const answer = await handler(getEvent('/.well-known/openid-configuration'), {} as Context)
  expect(JSON.parse(answer.body ?? '')).toMatchObject({
    end_session_endpoint: 'https://login.example.com/sign-out',
    acr_values_supported: ['urn:account-service:two-factors'],
    prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  })
})

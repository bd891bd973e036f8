import type { Context } from 'aws-lambda'
import { expect, it, vi } from 'vitest'
import { handler } from '../../../functions/well-known/openid-configuration.ts'
import { routes } from '../../../infra/routes.ts'
import { issuer } from '../../../shared/env.ts'
import { getEvent } from '../../support/call-endpoint.ts'

async function readDocument() {
  const { body = '' } = await handler(getEvent('/.well-known/openid-configuration'), {} as Context)
  return JSON.parse(body) as Record<string, unknown>
}

it('the discovery document can be cached for five minutes', async () => {
  const answer = await handler(getEvent('/.well-known/openid-configuration'), {} as Context)
  expect(answer.headers?.['cache-control']).toBe('public, max-age=300')
})

it('every endpoint that the discovery document names has a route', async () => {
  vi.stubEnv('BASE_URL', 'https://issuer.example.com/')
  const document = await readDocument()
  expect(document['issuer']).toBe('https://issuer.example.com')
  const endpoints = Object.entries(document).filter(([name]) => /_(endpoint|uri)$/.test(name))
  expect(endpoints.length).toBeGreaterThan(4)
  // Browsers are sent to the sign-out page, which is no route of the API.
  expect(document).not.toHaveProperty('end_session_endpoint')
  const paths = routes.map(({ path }) => path)
  for (const [, address] of endpoints) expect(paths).toContain(String(address).replace(issuer(), ''))
})

it('the discovery document names the sign-out page of a deployment that has one', async () => {
  vi.stubEnv('SIGN_OUT_URL', 'https://login.example.com/sign-out')
  expect(await readDocument()).toMatchObject({
    end_session_endpoint: 'https://login.example.com/sign-out',
  })
})

it('the discovery document says which optional parts are supported', async () => {
  expect(await readDocument()).toMatchObject({
    acr_values_supported: ['urn:account-service:two-factors'],
    prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  })
})

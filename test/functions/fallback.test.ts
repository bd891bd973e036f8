import type { APIGatewayProxyEventV2, Context } from 'aws-lambda'
import { beforeEach, expect, it, vi } from 'vitest'
import { handler } from '../../functions/fallback.ts'
import { callEndpoint, toEvent } from '../support/call-endpoint.ts'

const page = 'https://auth.example.com'

beforeEach(() => {
  vi.stubEnv('CORS_ORIGINS', page)
  vi.stubEnv('ROUTES', JSON.stringify({ '/account/info': ['GET'], '/deposit/get/{id}': ['GET', 'PUT'] }))
})

it.each(['GET /nowhere', 'GET /account', 'GET /account/info/', 'GET /deposit/get/', 'GET /'])(
  '%s, which is no route, answers 404',
  async (route) => {
    expect(await callEndpoint(handler, { route })).toMatchObject({ status: 404, code: 40400, data: null })
  },
)

it.each([
  ['POST /account/info', 'GET'],
  ['DELETE /deposit/get/7', 'GET, PUT'],
])('%s answers 405 and names the methods that are allowed', async (route, allow) => {
  const answer = await callEndpoint(handler, { route })
  expect(answer).toMatchObject({ status: 405, code: 40500, data: null, headers: { allow } })
})

it('a request that matches a route and yet comes here has an encoded slash in its path: 404', async () => {
  expect(await callEndpoint(handler, { route: 'GET /account/info' })).toMatchObject({ code: 40400 })
})

const preflight = async (
  headers: Record<string, string>,
  { stageVariables }: Pick<APIGatewayProxyEventV2, 'stageVariables'> = {},
) => {
  const event = toEvent({ route: 'OPTIONS /nowhere', headers })
  return handler({ ...event, ...(stageVariables && { stageVariables }) }, {} as Context)
}

it.each([{}, { maintenance: 'on' }])(
  'a preflight for any path is answered with the stage variables %j',
  async (stageVariables) => {
    const headers = { origin: page, 'access-control-request-method': 'POST' }
    expect(await preflight(headers, { stageVariables })).toMatchObject({
      statusCode: 204,
      body: '',
      headers: {
        vary: 'origin',
        'access-control-allow-origin': page,
        'access-control-allow-methods': 'GET,POST',
        'access-control-allow-headers': 'authorization,content-type,accept,if-none-match',
        'access-control-max-age': '3600',
      },
    })
  },
)

it('a preflight from an origin that is not configured lets nobody call', async () => {
  const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' }
  const answer = await preflight(headers)
  expect(answer).toMatchObject({ statusCode: 204, headers: { vary: 'origin' } })
  expect(answer.headers).not.toHaveProperty('access-control-allow-origin')
})

it('an OPTIONS request that is no preflight matches no route', async () => {
  for (const headers of [{ origin: page }, { 'access-control-request-method': 'POST' }])
    expect(await preflight(headers as Record<string, string>)).toMatchObject({ statusCode: 404 })
})

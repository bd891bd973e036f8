import type { APIGatewayProxyEventV2, Context } from 'aws-lambda'
import * as v from 'valibot'
import { beforeEach, expect, it, vi } from 'vitest'
import { publicEndpoint } from '../../../shared/http/endpoint.ts'
import { getEvent, loadEndpoint, toEvent } from '../../support/call-endpoint.ts'

const page = 'https://auth.example.com'

beforeEach(() => {
  vi.stubEnv('CORS_ORIGINS', `${page},capacitor://localhost,http://localhost:*,http://[::1]:*`)
  vi.stubEnv('ROUTES', '{}')
})

const handler = publicEndpoint({ input: v.object({}), output: v.string(), run: async () => 'done' })

const headersOf = async (origin?: string) => {
  const { headers } = await handler(getEvent('/test', origin === undefined ? {} : { origin }), {} as Context)
  return headers
}

it.each([
  page,
  'capacitor://localhost',
  'http://localhost',
  'http://localhost:8100',
  'http://localhost:65535',
  'http://[::1]:5173',
])('a page of %s may read an answer and the headers that clients need', async (origin) => {
  expect(await headersOf(origin)).toMatchObject({
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'x-request-id,retry-after,www-authenticate,content-disposition,etag',
  })
})

it.each([
  undefined,
  '',
  'null',
  '*',
  'http://localhost:*',
  'http://localhost:80.evil.example',
  'http://localhost.evil.example:80',
  'http://localhost:999999',
  'https://localhost:8100',
  `${page}.evil.example`,
  `${page}:8443`,
  'capacitor://localhost:1',
  'https://evil.example',
])(
  'a page of the origin %s cannot read an answer, but no cache takes it for another page’s',
  async (origin) => {
    const headers = await headersOf(origin)
    expect(headers).not.toHaveProperty('access-control-allow-origin')
    expect(headers).toMatchObject({ vary: 'origin' })
  },
)

it('failures say that they depend on the origin, and pages may read them', async () => {
  const event = toEvent({ route: 'GET /test', query: 'a=1&a=2', headers: { origin: page } })
  const { statusCode, headers } = await handler(event, {} as Context)
  expect(statusCode).toBe(400)
  expect(headers).toMatchObject({ vary: 'origin', 'access-control-allow-origin': page })
})

const preflight = async (
  headers: Record<string, string>,
  { stageVariables }: Pick<APIGatewayProxyEventV2, 'stageVariables'> = {},
) => {
  const event = toEvent({ route: 'OPTIONS /nowhere', headers })
  const fallback = await loadEndpoint('fallback')
  return fallback({ ...event, ...(stageVariables && { stageVariables }) }, {} as Context)
}

it('a preflight for any path is answered, also in maintenance, so that the page can read the answer', async () => {
  for (const stageVariables of [{}, { maintenance: 'on' }]) {
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
  }
})

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

import type { Context } from 'aws-lambda'
import * as v from 'valibot'
import { beforeEach, expect, it, vi } from 'vitest'
import { publicEndpoint } from '../../../shared/http/endpoint.ts'
import { getEvent, toEvent } from '../../support/call-endpoint.ts'

const page = 'https://auth.example.com'

beforeEach(() => {
  vi.stubEnv('CORS_ORIGINS', `${page},capacitor://localhost,http://localhost:*,http://[::1]:*`)
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

it('pages may read failures, which say that they depend on the origin', async () => {
  const event = toEvent({ route: 'GET /test', query: 'a=1&a=2', headers: { origin: page } })
  const { statusCode, headers } = await handler(event, {} as Context)
  expect(statusCode).toBe(400)
  expect(headers).toMatchObject({ vary: 'origin', 'access-control-allow-origin': page })
})

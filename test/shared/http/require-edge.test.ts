import type { Context } from 'aws-lambda'
import * as v from 'valibot'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { endpointFunctions } from '../../../infra/endpoint-functions.ts'
import { type Endpoint, publicEndpoint } from '../../../shared/http/endpoint.ts'
import { getEvent, loadEndpoint } from '../../support/call-endpoint.ts'

const forbidden = { code: 40301, msg: 'this is not yours', data: null }
const viewer = { 'cloudfront-viewer-address': '198.51.100.7:4321' }

/** Answers with the source address of the request, and with the origin secret if the endpoint can see it. */
const whoCalls = publicEndpoint({
  input: v.object({}),
  output: v.unknown(),
  run: async ({ request }) => ({ ip: request.sourceIp, secret: request.header('x-origin-secret') ?? null }),
})

const call = async (
  handler: Endpoint,
  headers: Record<string, string>,
  event = getEvent('/test', headers),
) => {
  const { statusCode, body = '' } = await handler(event, {} as Context)
  return { status: statusCode, ...(JSON.parse(body) as { code: number; msg: string; data: unknown }) }
}

beforeEach(() => void vi.stubEnv('ORIGIN_SECRETS', 'old,current,next'))

describe('a deployment behind CloudFront (the edge)', () => {
  it.each(['old', 'current', 'next'])('behind CloudFront, the secret "%s" is accepted', async (secret) => {
    expect(await call(whoCalls, { ...viewer, 'x-origin-secret': secret })).toMatchObject({ status: 200 })
  })

  it.each(['', 'wrong', 'current ', 'curren', 'old,current', 'CURRENT'])(
    'behind CloudFront, a request with the secret "%s" is answered 403',
    async (secret) => {
      const answer = await call(whoCalls, { ...viewer, 'x-origin-secret': secret })
      expect(answer).toEqual({ status: 403, ...forbidden })
    },
  )

  it('behind CloudFront, every request is refused while no secret is configured', async () => {
    vi.stubEnv('ORIGIN_SECRETS', '')
    expect(await call(whoCalls, { ...viewer, 'x-origin-secret': '' })).toMatchObject({ status: 403 })
    expect(await call(whoCalls, viewer)).toMatchObject({ status: 403 })
  })

  it.each([
    ['198.51.100.7:4321', '198.51.100.7'],
    ['2001:db8:85a3::8a2e:370:7334:4321', '2001:db8:85a3::8a2e:370:7334'],
    ['2001:db8::1:443', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
  ])('behind CloudFront, the viewer address %s becomes the source address %s', async (header, ip) => {
    const headers = { 'cloudfront-viewer-address': header, 'x-origin-secret': 'current' }
    expect(await call(whoCalls, headers)).toMatchObject({ status: 200, data: { ip, secret: null } })
  })

  it.each(['', 'unknown', '999.1.1.1:80'])(
    'behind CloudFront, a request with the viewer address "%s" is answered 500',
    async (header) => {
      const headers = { 'cloudfront-viewer-address': header, 'x-origin-secret': 'current' }
      expect(await call(whoCalls, headers)).toMatchObject({ status: 500 })
    },
  )

  it('every endpoint answers 403 in the JSON envelope to a request that did not come through CloudFront', async () => {
    vi.stubEnv('ROUTES', '{}')
    const entries = [...endpointFunctions().map(({ entry }) => entry), 'fallback']
    expect(entries.length).toBeGreaterThan(24)
    for (const entry of entries) {
      const handler = await loadEndpoint(entry)
      const answer = await call(handler, {
        ...viewer,
        authorization: 'Bearer 1.x',
        'x-origin-secret': 'wrong',
      })
      expect(answer, entry).toMatchObject({ status: 403, ...forbidden })
    }
  })
})

it('without CloudFront, a client’s headers cannot change the source address', async () => {
  vi.unstubAllEnvs()
  const headers = { ...viewer, 'x-origin-secret': 'current' }
  expect(await call(whoCalls, headers)).toMatchObject({ status: 200, data: { ip: '127.0.0.1' } })
})

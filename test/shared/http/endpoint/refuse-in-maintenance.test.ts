import type { Context } from 'aws-lambda'
import * as v from 'valibot'
import { expect, it, vi } from 'vitest'
import { endpointFunctions } from '../../../../infra/endpoint-functions.ts'
import { type Endpoint, publicEndpoint } from '../../../../shared/http/endpoint.ts'
import { emittedMetrics } from '../../../support/emitted-metrics.ts'
import { getEvent, loadEndpoint } from '../../../support/call-endpoint.ts'

const unavailable = { code: 50300, msg: 'temporarily unavailable, try again', data: null }

const call = async (handler: Endpoint, stageVariables?: Record<string, string>) => {
  const event = {
    ...getEvent('/test', { authorization: 'Bearer 1.x' }),
    ...(stageVariables && { stageVariables }),
  }
  const { statusCode, headers, body = '' } = await handler(event, {} as Context)
  return { status: statusCode, retryAfter: headers?.['retry-after'], body: JSON.parse(body) as object }
}

it('in maintenance, every endpoint except the JWKS and discovery answers 503 with Retry-After', async () => {
  vi.stubEnv('ROUTES', '{}')
  const open = ['well-known/jwks', 'well-known/openid-configuration']
  const entries = [...endpointFunctions().map(({ entry }) => entry), 'fallback']
  expect(entries).toEqual(expect.arrayContaining(open))
  for (const entry of entries.filter((name) => !open.includes(name))) {
    const handler = await loadEndpoint(entry)
    expect(await call(handler, { maintenance: 'on' }), entry).toMatchObject({
      status: 503,
      retryAfter: '60',
      body: unavailable,
    })
  }
})

it.each([
  ['no stage variable', undefined],
  ['another stage variable', { other: 'on' }],
  ['a variable that is being removed', { maintenance: '' }],
])('with %s, an endpoint is not in maintenance', async (_what, stageVariables) => {
  const handler = publicEndpoint({ input: v.object({}), output: v.string(), run: async () => 'done' })
  expect(await call(handler, stageVariables)).toMatchObject({ status: 200, body: { data: 'done' } })
})

it('in maintenance, an endpoint with answersInMaintenance still runs', async () => {
  const spec = { input: v.object({}), output: v.string(), run: async () => 'done' }
  const open = publicEndpoint({ ...spec, answersInMaintenance: true })
  expect(await call(open, { maintenance: 'on' })).toMatchObject({ status: 200 })
})

it('in maintenance, an endpoint that refuses does not run', async () => {
  const run = vi.fn(async () => 'done')
  await call(publicEndpoint({ input: v.object({}), output: v.string(), run }), { maintenance: 'on' })
  expect(run).not.toHaveBeenCalled()
})

it('in maintenance, an endpoint that refuses counts as unavailable, not as a fault', async () => {
  const handler = publicEndpoint({ input: v.object({}), output: v.string(), run: async () => 'done' })
  const metrics = await emittedMetrics(() => call(handler, { maintenance: 'on' }))
  expect(metrics).toContainEqual({ name: 'Unavailable', value: 1, dimensions: { cause: 'maintenance' } })
  expect(metrics.map(({ name }) => name)).not.toContain('Faults')
})

import { describe, expect, it } from 'vitest'
import { routes } from '../../../infra/routes.ts'
import { ofType, synthesizeUnchecked } from './synthesize.ts'

describe('the origins from which browsers may call the API (CORS)', () => {
  const corsOf = async (values: Record<string, unknown> = {}) => {
    const stacks = await synthesizeUnchecked('prod', { values })
    const origins = ofType(stacks, 'AWS::Lambda::Function').flatMap(({ resource: { Properties } }) => {
      const { Variables } = Properties['Environment'] as { Variables: Record<string, unknown> }
      return 'BASE_URL' in Variables ? [Variables['CORS_ORIGINS']] : []
    })
    return [...new Set(origins)]
  }

  it('by default, only the authorization page’s origin may call the API', async () => {
    expect(await corsOf()).toEqual(['https://auth.example.com'])
  })

  it('if corsOrigins is set, pages of these origins and the authorization page may call the API', async () => {
    const corsOrigins = ['https://a.example', 'capacitor://localhost']
    expect(await corsOf({ corsOrigins })).toEqual([
      'https://auth.example.com,https://a.example,capacitor://localhost',
    ])
  })

  it('API Gateway leaves preflights to the function for unknown routes', async () => {
    const [api] = ofType(await synthesizeUnchecked('prod'), 'AWS::ApiGatewayV2::Api')
    expect(api?.resource.Properties).not.toHaveProperty('CorsConfiguration')
  })
})

/** RSA signatures per second that KMS allows an account in most regions (AWS KMS quotas). */
const kmsSignaturesPerSecond = 1_000

interface Limits {
  ThrottlingRateLimit: number
  ThrottlingBurstLimit: number
}

interface Throttles {
  DependsOn: string[]
  Properties: { DefaultRouteSettings: Limits; RouteSettings: Record<string, Limits> }
}

async function readThrottles(values = {}) {
  const stacks = await synthesizeUnchecked('prod', { values })
  const [stage] = ofType(stacks, 'AWS::ApiGatewayV2::Stage')
  return { ...(stage?.resource as unknown as Throttles), routes: ofType(stacks, 'AWS::ApiGatewayV2::Route') }
}

const standard = await readThrottles()

it('an expensive route gets its share of the stage’s throttle, but at least 1 request per second', async () => {
  const { Properties: properties } = await readThrottles({ throttleRate: 10 })
  expect(properties.DefaultRouteSettings).toEqual({ ThrottlingRateLimit: 10, ThrottlingBurstLimit: 20 })
  expect(properties.RouteSettings).toMatchObject({
    'POST /oauth2/token': { ThrottlingRateLimit: 3, ThrottlingBurstLimit: 6 },
    'GET /community/members/export': { ThrottlingRateLimit: 1, ThrottlingBurstLimit: 1 },
    'GET /account/bills/export': { ThrottlingRateLimit: 1, ThrottlingBurstLimit: 1 },
  })
})

it('the burst of a rate with a fraction is a whole number, as API Gateway requires', async () => {
  const { Properties: properties } = await readThrottles({ throttleRate: 1.3 })
  expect(properties.DefaultRouteSettings).toEqual({ ThrottlingRateLimit: 1.3, ThrottlingBurstLimit: 3 })
})

it('the throttles are created after the routes that they name, as API Gateway requires', () => {
  const { DependsOn: before, Properties: properties, routes: all } = standard
  const named = all.filter(
    ({ resource }) => String(resource.Properties['RouteKey']) in properties.RouteSettings,
  )
  expect(before.toSorted()).toEqual(named.map(({ id }) => id).toSorted())
  expect(named).toHaveLength(8)
})

it('every route that signs tokens or checks passwords or secrets has a throttle of its own', () => {
  const { Properties: properties } = standard
  const expensive = routes.filter(({ permissions }) => permissions.signingKeys ?? permissions.macKey)
  for (const { method, path } of expensive)
    expect(properties.RouteSettings).toHaveProperty([`${method} ${path}`])
})

it('the throttles of all signing routes together stay below the KMS quota for RSA signatures', () => {
  const signing = routes.filter(({ permissions }) => permissions.signingKeys)
  const shares = signing.reduce((sum, { throttleShare = 1 }) => sum + throttleShare, 0)
  expect(shares * 1_000).toBeLessThan(kmsSignaturesPerSecond)
})

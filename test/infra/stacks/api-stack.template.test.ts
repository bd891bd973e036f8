import { describe, expect, it } from 'vitest'
import { makeBundleDirectories } from '../../support/bundle-directories.ts'
import { ofType, synthesizeUnchecked } from './synthesize.ts'

describe('the browsers that may call the API (CORS)', () => {
  const corsOf = async (values: Record<string, unknown> = {}) => {
    makeBundleDirectories()
    const stacks = await synthesizeUnchecked('prod', { values })
    return ofType(stacks, 'AWS::ApiGatewayV2::Api').map(
      ({ resource: { Properties } }) => Properties['CorsConfiguration'],
    )
  }

  it('by default they are those of the authorization page, and read what clients need of an answer', async () => {
    expect(await corsOf()).toEqual([
      {
        AllowOrigins: ['https://auth.example.com'],
        AllowMethods: ['GET', 'POST'],
        AllowHeaders: ['authorization', 'content-type', 'accept', 'if-none-match'],
        ExposeHeaders: ['x-request-id', 'retry-after', 'www-authenticate', 'content-disposition', 'etag'],
        MaxAge: 3_600,
      },
    ])
  })

  it('with corsOrigins they are those of these origins, and no others', async () => {
    const corsOrigins = ['https://a.example', 'https://b.example']
    expect(await corsOf({ corsOrigins })).toMatchObject([{ AllowOrigins: corsOrigins }])
  })
})

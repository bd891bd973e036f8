import { expect, it } from 'vitest'
import { makeBundleDirectories } from '../../support/bundle-directories.ts'
import { ofType, synthesizeUnchecked } from './synthesize.ts'

it('the knob signInConcurrency keeps executions for the two steps of a sign-in, and for nothing else', async () => {
  makeBundleDirectories()
  const stacks = await synthesizeUnchecked('prod', { values: { signInConcurrency: 200 } })
  const reserved = ofType(stacks, 'AWS::Lambda::Function')
    .map(({ resource: { Properties } }) => [
      Properties['FunctionName'],
      Properties['ReservedConcurrentExecutions'],
    ])
    .filter(([, executions]) => executions !== undefined)
  expect(reserved).toEqual([
    ['account-service-prod-user-login-with-password', 200],
    ['account-service-prod-user-login-2fa', 200],
  ])
})

it('the browsers of the stage’s own origins may call the API, and read what its answers say, no others', async () => {
  makeBundleDirectories()
  const corsOf = async (values: Record<string, unknown> = {}) =>
    ofType(await synthesizeUnchecked('prod', { values }), 'AWS::ApiGatewayV2::Api').map(
      ({ resource: { Properties } }) => Properties['CorsConfiguration'],
    )
  expect(await corsOf()).toEqual([
    {
      // The origin of the authorization page.
      AllowOrigins: ['https://auth.example.com'],
      AllowMethods: ['GET', 'POST'],
      AllowHeaders: ['authorization', 'content-type', 'accept', 'if-none-match'],
      ExposeHeaders: ['x-request-id', 'retry-after', 'www-authenticate', 'content-disposition', 'etag'],
      MaxAge: 3_600,
    },
  ])
  const corsOrigins = ['https://a.example', 'https://b.example']
  expect(await corsOf({ corsOrigins })).toMatchObject([{ AllowOrigins: corsOrigins }])
})

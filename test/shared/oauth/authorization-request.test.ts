import { expect, it } from 'vitest'
import { checkLengths, grantScopes } from '../../../shared/oauth/authorization-request.ts'

it.each([
  ['nonce', 1_024],
  ['state', 4_096],
  ['id_token_hint', 8_192],
  ['login_hint', 2_048],
  ['scope', 2_048],
])('the parameter %s may have %i characters', (name, max) => {
  expect(() => checkLengths({ [name]: '𝒳'.repeat(max) })).not.toThrow()
  expect(() => checkLengths({ [name]: 'x'.repeat(max + 1) })).toThrow(
    expect.objectContaining({ failure: 'invalid_parameter', error: 'invalid_request' }) as Error,
  )
})

it.each([
  ['openid email profile', ['openid', 'email']],
  ['email openid', ['openid', 'email']],
  ['openid unknown', ['openid']],
])('of the requested scopes %j, a client for openid and email gets %j', (requested, granted) => {
  expect(grantScopes(requested, { scopes: ['openid', 'email'] })).toEqual(granted)
})

it.each(['profile', '', undefined])(
  'a request for the scopes %j, of which none is granted, is refused',
  (scope) => {
    expect(() => grantScopes(scope, { scopes: ['openid', 'email'] })).toThrow(
      expect.objectContaining({ failure: 'invalid_scope', error: 'invalid_scope' }) as Error,
    )
  },
)

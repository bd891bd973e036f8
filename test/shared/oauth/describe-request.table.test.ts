import { expect, test } from 'vitest'
import type { AuthorizationParameters } from '../../../shared/oauth/authorization-request.ts'
import { describeRequest } from '../../../shared/oauth/describe-request.ts'
import { measureCalls } from '../../support/measure-calls.ts'
import { authorizationRequest, createClient } from '../../support/oauth-clients.ts'

test.each([
  ['valid', {}],
  ['of an unknown client', { client_id: 'nobody' }],
])('the description of an authorization request costs one read: %s', async (_kind, overrides) => {
  const request = authorizationRequest(await createClient(), overrides) as unknown as AuthorizationParameters
  const { names } = await measureCalls(() => describeRequest(request).catch(() => undefined))
  expect(names).toEqual(['GetItem'])
})

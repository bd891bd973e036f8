import { expect, test } from 'vitest'
import type { AuthorizationParameters } from '../../../shared/oauth/authorization-request.ts'
import { describeRequest } from '../../../shared/oauth/describe-request.ts'
import { measureCalls } from '../../support/measure-calls.ts'
import { authorizationRequest, createClient } from '../../support/oauth-clients.ts'

test.each([
  ['valid', {}, ['GetItem']],
  ['of an unknown client, which may be a moment old', { client_id: 'nobody' }, ['GetItem', 'GetItem']],
])('the description of an authorization request costs few reads: %s', async (_kind, overrides, reads) => {
  const request = authorizationRequest(await createClient(), overrides) as unknown as AuthorizationParameters
  const { names } = await measureCalls(() => describeRequest(request).catch(() => undefined))
  expect(names).toEqual(reads)
})

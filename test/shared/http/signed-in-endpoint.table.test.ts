import { expect, it } from 'vitest'
import { handler as bills } from '../../../functions/account/bills.ts'
import { newAccessToken, newSessionId } from '../../../shared/tokens/access-token.ts'
import { callEndpoint } from '../../support/call-endpoint.ts'
import { bearer } from '../../support/oauth-clients.ts'

it('a request with an unknown token and invalid input is answered 401', async () => {
  const headers = bearer(newAccessToken(1, newSessionId()))
  expect(await callEndpoint(bills, { query: 'current=0&size=0', headers })).toMatchObject({ status: 401 })
})

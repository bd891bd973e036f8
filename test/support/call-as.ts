import { expect } from 'vitest'
import type { Endpoint } from '../../shared/http/endpoint.ts'
import { type Scope, scopes as everyScope } from '../../shared/tokens/scopes.ts'
import { callEndpoint, type TestAnswer, type TestRequest } from './call-endpoint.ts'
import { createAccessToken } from './community.ts'
import { bearer } from './oauth-clients.ts'

/** A request of a signed-in user, with the scopes of the access_token that it presents. */
type UserRequest = TestRequest & { scopes?: Scope[] }

/** Returns a function that calls an endpoint as a user, by default with a token of this one scope. */
export const callAs =
  (handler: Endpoint, scope: Scope) =>
  async (userId: number, { scopes = [scope], headers, ...rest }: UserRequest = {}): Promise<TestAnswer> => {
    const token = await createAccessToken(userId, scopes)
    return callEndpoint(handler, { ...rest, headers: { ...bearer(token), ...headers } })
  }

/** Every scope but this one. */
export const scopesWithout = (scope: Scope): Scope[] => everyScope.filter((other) => other !== scope)

/** Matches the answer to a request of which only this field or parameter is bad. */
export const refusalOf = (field: string) => ({
  status: 400,
  code: 40001,
  data: { errors: [{ field, reason: expect.any(String) as string }] },
})

/** Matches the answer to a request whose access_token lacks the endpoint's scope. */
export const scopeRefusal = { status: 403, code: 40300, data: null }

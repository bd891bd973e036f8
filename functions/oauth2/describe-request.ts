import * as v from 'valibot'
import { publicEndpoint } from '../../shared/http/endpoint.ts'
import { AuthorizationParameters } from '../../shared/oauth/authorization-request.ts'
import { describeRequest, RequestDescription } from '../../shared/oauth/authorize.ts'

/** Tells the authorization page which client asks for which scopes, before the user signs in. */
export const handler = publicEndpoint({
  input: v.object({ query: AuthorizationParameters }),
  output: RequestDescription,
  run: ({ input }) => describeRequest(input.query),
})

import * as v from 'valibot'
import { publicEndpoint } from '../../shared/http/endpoint.ts'
import { AuthorizationParameters } from '../../shared/oauth/authorization-request.ts'
import { authorize } from '../../shared/oauth/authorize.ts'

/** Redirects the browser to the authorization page, or back to the client with an error. */
export const handler = publicEndpoint({
  input: v.object({ query: AuthorizationParameters }),
  output: v.never(),
  repeats: 'report',
  run: ({ input, request }) => authorize(input.query, request.rawQuery, request),
})

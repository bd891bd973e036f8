import * as v from 'valibot'
import { publicEndpoint } from '../../shared/http/endpoint.ts'
import { Reply } from '../../shared/http/reply.ts'
import { AuthorizationParameters } from '../../shared/oauth/authorization-request.ts'
import { authorize } from '../../shared/oauth/authorize.ts'

/** Redirects the browser to the authorization page, or back to the client with an error. */
export const handler = publicEndpoint({
  input: v.object({ query: AuthorizationParameters }),
  output: v.never(),
  repeats: 'report',
  async run({ input, request }) {
    return new Reply(302, { location: await authorize(input.query, request) })
  },
})

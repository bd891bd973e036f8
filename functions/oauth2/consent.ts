import * as v from 'valibot'
import { signedInEndpoint } from '../../shared/http/signed-in-endpoint.ts'
import { warmUp } from '../../shared/http/warm-up.ts'
import { AuthorizationParameters } from '../../shared/oauth/authorization-request.ts'
import { readClient } from '../../shared/oauth/client.ts'
import { consent, ConsentAnswer } from '../../shared/oauth/consent.ts'

/** Completes an authorization request that the user approved or denied. Returns the URL to open next. */
export const handler = signedInEndpoint({
  scope: 'first-party',
  accepts: 'json',
  input: v.object({
    body: v.object({ ...AuthorizationParameters.entries, approved: v.optional(v.boolean(), true) }),
  }),
  output: ConsentAnswer,
  prefetch: ({ body: { client_id } }) => readClient(client_id),
  run: ({ input: { body }, caller, prefetched: client }) => {
    const { approved, ...parameters } = body
    return consent(parameters, approved, client, caller)
  },
})

await warmUp(handler)

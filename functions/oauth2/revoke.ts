import * as v from 'valibot'
import { publicEndpoint } from '../../shared/http/endpoint.ts'
import { authenticateClient, readClientCredentials } from '../../shared/oauth/client-authentication.ts'
import { Parameter, requireParameter } from '../../shared/oauth/parameter.ts'
import { revokeToken } from '../../shared/tokens/session.ts'

/** Revokes an access_token (RFC 7009). Ignores `token_type_hint`: no other kind of token can be revoked. */
export const handler = publicEndpoint({
  dialect: 'oauth',
  accepts: 'form-or-json',
  input: v.object({
    body: v.object({ token: Parameter, client_id: Parameter, client_secret: Parameter }),
  }),
  output: v.null(),
  async run({ input: { body }, request }) {
    const { clientId } = await authenticateClient(readClientCredentials(body, request))
    await revokeToken(requireParameter('token', body.token), clientId)
    return null
  },
})

import * as v from 'valibot'
import { publicEndpoint } from '../../shared/http/endpoint.ts'
import { Parameter } from '../../shared/oauth/parameter.ts'
import { revoke } from '../../shared/oauth/revoke.ts'

/** Makes an access_token of the client stop working (RFC 7009). */
export const handler = publicEndpoint({
  dialect: 'oauth',
  accepts: 'form-or-json',
  input: v.object({
    body: v.object({ token: Parameter, client_id: Parameter, client_secret: Parameter }),
  }),
  output: v.null(),
  async run({ input, request }) {
    await revoke(input.body, request)
    return null
  },
})

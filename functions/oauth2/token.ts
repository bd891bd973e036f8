import * as v from 'valibot'
import { publicEndpoint } from '../../shared/http/endpoint.ts'
import { handleTokenRequest, TokenAnswer, TokenParameters } from '../../shared/oauth/token-endpoint.ts'

/** Exchanges an authorization code and its PKCE verifier for tokens. */
export const handler = publicEndpoint({
  dialect: 'oauth',
  accepts: 'form-or-json',
  input: v.object({ body: TokenParameters }),
  output: TokenAnswer,
  run: ({ input, request }) => handleTokenRequest(input.body, request),
})

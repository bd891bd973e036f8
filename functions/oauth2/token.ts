import * as v from 'valibot'
import { publicEndpoint } from '../../shared/http/endpoint.ts'
import { handleTokenRequest, TokenAnswer, TokenParameters } from '../../shared/oauth/token-endpoint.ts'

/** Token endpoint: exchanges an authorization code and its PKCE verifier for tokens (OAuth 2.1 §4.1.3). */
export const handler = publicEndpoint({
  dialect: 'oauth',
  accepts: 'form-or-json',
  input: v.object({ body: TokenParameters }),
  output: TokenAnswer,
  run: ({ input, request }) => handleTokenRequest(input.body, request),
})

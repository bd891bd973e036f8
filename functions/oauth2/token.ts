import * as v from 'valibot'
import { publicEndpoint } from '../../shared/http/public-endpoint.ts'
import { handleTokenRequest } from '../../shared/oauth/handle-token-request.ts'
import { TokenAnswer, TokenParameters } from '../../shared/oauth/token-request.ts'

/** Exchanges an authorization code and its PKCE verifier for tokens. */
export const handler = publicEndpoint({
  dialect: 'oauth',
  accepts: 'form-or-json',
  input: v.object({ body: TokenParameters }),
  output: TokenAnswer,
  run: ({ body }, request) => handleTokenRequest(body, request),
})

import * as v from 'valibot'
import { Parameter } from './parameter.ts'

/** Parameters of an authorization request, by which consent is asked for again (OpenID Connect Core §3.1.2.1, RFC 7636 §4.3). */
export const AuthorizationParameters = v.object({
  response_type: Parameter,
  client_id: Parameter,
  redirect_uri: Parameter,
  scope: Parameter,
  state: Parameter,
  nonce: Parameter,
  code_challenge: Parameter,
  code_challenge_method: Parameter,
  response_mode: Parameter,
  prompt: Parameter,
  request: Parameter,
  request_uri: Parameter,
})
export type AuthorizationParameters = v.InferOutput<typeof AuthorizationParameters>

import * as v from 'valibot'
import { Parameter } from './parameter.ts'

/** Parameters of the token endpoint (OAuth 2.1 §4.1.3). */
export const TokenParameters = v.object({
  grant_type: Parameter,
  code: Parameter,
  redirect_uri: Parameter,
  client_id: Parameter,
  client_secret: Parameter,
  code_verifier: Parameter,
})
export type TokenParameters = v.InferOutput<typeof TokenParameters>

/** What the token endpoint answers (RFC 6749 §5.1, OpenID Connect Core §3.1.3.3). */
export const TokenAnswer = v.object({
  device_token: v.string(),
  /** The device_token, under the name by which OpenID Connect knows it. */
  id_token: v.string(),
  access_token: v.string(),
  token_type: v.literal('Bearer'),
  /** Seconds. */
  expires_in: v.pipe(v.number(), v.integer()),
  /** When both tokens expire; epoch milliseconds. */
  expire: v.pipe(v.number(), v.integer()),
  /** Scopes, separated by spaces. */
  scope: v.string(),
})
export type TokenAnswer = v.InferOutput<typeof TokenAnswer>

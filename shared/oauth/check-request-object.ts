import type { AuthorizationParameters } from './authorization-parameters.ts'
import { faultOf } from './authorization-fault.ts'

/** Request objects are not supported, and a request whose parameters are in one must not run without them (OpenID Connect Core §6). */
export function checkRequestObject({ request, request_uri }: AuthorizationParameters): void {
  if (request !== undefined) throw faultOf('request', 'is not supported', 'request_not_supported')
  if (request_uri !== undefined) throw faultOf('request_uri', 'is not supported', 'request_uri_not_supported')
}

import type { AuthorizationParameters } from './authorization-parameters.ts'
import { faultOf } from './authorization-fault.ts'

/** The one response type is `code` (RFC 6749 §3.1.1, RFC 9700 §2.1.2), and it is answered in the query. */
export function checkResponseType({ response_type, response_mode }: AuthorizationParameters): void {
  if (response_type === undefined) throw faultOf('response_type', 'is required')
  if (response_type !== 'code') {
    throw faultOf('response_type', 'is not supported', 'unsupported_response_type')
  }
  if (response_mode !== undefined && response_mode !== 'query') {
    throw faultOf('response_mode', 'is not supported')
  }
}

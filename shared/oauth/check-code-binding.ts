import type { Client } from './client.ts'
import { Failure } from '../errors.ts'
import type { CodeItem } from './authorization-code.ts'

/** A code is exchanged by the client that it was given to, naming the redirect URI that it was sent to (RFC 6749 §4.1.3). */
export function checkCodeBinding(code: CodeItem, client: Client, redirectUri: string): void {
  if (code.client_id !== client.clientId || code.redirect_uri !== redirectUri)
    throw new Failure('invalid_grant')
}

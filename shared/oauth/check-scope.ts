import type { Client } from './client.ts'
import { type Scope, scopes as knownScopes } from '../tokens/scopes.ts'
import { faultOf } from './authorization-fault.ts'

/**
 * The scopes that a request names, each once: known ones that its client is registered for, and nothing else
 * (RFC 6749 §3.3).
 */
export function checkScope(scope: string | undefined, client: Client): Scope[] {
  const names = new Set((scope ?? '').split(' ').filter((name) => name !== ''))
  const allowed = knownScopes.filter((name) => client.scopes.includes(name) && names.has(name))
  if (names.size === 0) throw faultOf('scope', 'is required', 'invalid_scope')
  if (allowed.length < names.size) {
    throw faultOf('scope', 'holds one that is unknown or not for this client', 'invalid_scope')
  }
  return allowed
}

/** The same for a request that signs somebody in, which must name `openid` (OpenID Connect Core §3.1.2.1). */
export function checkOpenIdScope(scope: string | undefined, client: Client): Scope[] {
  const scopes = checkScope(scope, client)
  if (!scopes.includes('openid')) throw faultOf('scope', 'must hold openid', 'invalid_scope')
  return scopes
}

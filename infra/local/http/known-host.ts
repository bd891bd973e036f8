import type { IncomingMessage, ServerResponse } from 'node:http'

/** Names of this machine (RFC 6761 §6.3). Any port, because it may be reached through a forwarded one. */
const localHosts = /^(127(\.\d{1,3}){3}|([\w-]+\.)*localhost|\[::1\])(:\d{1,5})?$/i

/**
 * Answers 403, as API Gateway does for a host that it does not serve, if a request is for another host than
 * this machine; returns whether it did. In an attack by DNS rebinding, a page in the developer's browser
 * reaches a loopback address under a name of the attacker's, and the browser lets it read the answers.
 */
export function refuseForeignHost({ headers }: IncomingMessage, response: ServerResponse): boolean {
  if (localHosts.test(headers.host ?? '')) return false
  response.writeHead(403, { 'content-type': 'application/json' }).end('{"message":"Forbidden"}')
  return true
}

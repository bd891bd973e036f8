import { createHash, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'
import type { EnvironmentName } from '../env.ts'
import { Failure } from '../errors.ts'
import type { HttpMiddleware } from './request.ts'

/** Header with the secret that proves that a request came through the CloudFront distribution (edge). */
export const originSecretHeader = 'x-origin-secret'

/**
 * Middleware that refuses requests that did not come through CloudFront (the edge), and takes the client's
 * address from CloudFront's header. Does nothing in a deployment without CloudFront.
 */
export const requireEdge = (): HttpMiddleware => ({
  before({ event }) {
    const secrets = process.env['ORIGIN_SECRETS' satisfies EnvironmentName]
    if (secrets === undefined) return
    if (!isOneOf(event.headers[originSecretHeader] ?? '', secrets.split(','))) throw new Failure('forbidden')
    // Removes the secret from the event, so that no later code can log it.
    Reflect.deleteProperty(event.headers, originSecretHeader)
    event.requestContext.http.sourceIp = viewerAddress(event.headers['cloudfront-viewer-address'])
  },
})

/** Compares with every secret in constant time, so that response times tell nothing about the secrets. */
function isOneOf(sent: string, secrets: string[]): boolean {
  const digest = sha256(sent)
  const matches = secrets.filter((secret) => timingSafeEqual(sha256(secret), digest) && secret !== '')
  return matches.length > 0
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

/**
 * Reads the client's address from `CloudFront-Viewer-Address` (`address:port`). Throws without an address,
 * because all clients would then share the limits of CloudFront's address.
 */
function viewerAddress(header = ''): string {
  const address = header.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1')
  if (isIP(address) === 0) throw new Error('the edge sent no address of the viewer')
  return address
}

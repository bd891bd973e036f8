import { createHash } from 'node:crypto'
import { json, Reply, successBody } from './reply.ts'

/**
 * Answers with a document that everyone may cache: standard members at the top level besides the envelope,
 * and an ETag. Answers 304 without a body when the client has the current version (RFC 9110 §15.4.5).
 */
export function publicDocument(
  data: object,
  { maxAgeSeconds, ifNoneMatch }: { maxAgeSeconds: number; ifNoneMatch: string | undefined },
): Reply {
  const body = successBody(data, 'oauth')
  const etag = entityTag(body)
  const cached = { 'cache-control': `public, max-age=${maxAgeSeconds}`, etag }
  return matchesTag(ifNoneMatch, etag) ? new Reply(304, cached) : new Reply(200, { ...json, ...cached }, body)
}

/** Computes the strong ETag of a body (RFC 9110 §8.8.3). */
export const entityTag = (body: string): string =>
  `"${createHash('sha256').update(body).digest('base64url')}"`

/** Whether an `if-none-match` header (ETags or `*`) weakly matches the document (RFC 9110 §13.1.2). */
export function matchesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  const tags = ifNoneMatch.match(/(?:W\/)?"[^"]*"/g) ?? []
  return tags.some((sent) => sent.replace(/^W\//, '') === tag)
}

import { createHash } from 'node:crypto'
import { documentMaxAgeSeconds } from '../keys/times.ts'
import { json, Reply, successBody } from './reply.ts'
import type { RequestInfo } from './request.ts'

/**
 * Answers with a document that everyone may cache, or with 304 if the client has the current version (RFC
 * 9110 §15.4.5). The document's members are at the top level of the JSON.
 */
export function publicDocument(data: object, { header }: RequestInfo): Reply {
  const body = successBody(data, 'oauth')
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`
  const cached = { 'cache-control': `public, max-age=${documentMaxAgeSeconds()}`, etag }
  return matchesTag(header('if-none-match'), etag)
    ? new Reply(304, cached)
    : new Reply(200, { ...json, ...cached }, body)
}

/** Whether an `if-none-match` header (ETags or `*`) weakly matches the document (RFC 9110 §13.1.2). */
function matchesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  const tags = ifNoneMatch.match(/(?:W\/)?"[^"]*"/g) ?? []
  return tags.some((sent) => sent.replace(/^W\//, '') === tag)
}

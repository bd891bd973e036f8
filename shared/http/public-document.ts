import { entityTag, matchesTag } from './conditional.ts'
import { Reply, succeed } from './reply.ts'

/**
 * Answers with a document that everyone may cache: its standard members at the top level beside the envelope's, an entity tag,
 * and 304 without a body to a client that has it already (RFC 9110 §15.4.5).
 */
export function publicDocument(
  data: object,
  { maxAgeSeconds, ifNoneMatch }: { maxAgeSeconds: number; ifNoneMatch: string | undefined },
): Reply {
  const { headers, body = '' } = succeed(data, 'oauth')
  const etag = entityTag(body)
  const cached = { 'cache-control': `public, max-age=${maxAgeSeconds}`, etag }
  return matchesTag(ifNoneMatch, etag)
    ? new Reply(304, cached)
    : new Reply(200, { ...(headers as Record<string, string>), ...cached }, body)
}

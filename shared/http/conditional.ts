import { createHash } from 'node:crypto'

/** The strong entity tag of a body (RFC 9110 §8.8.3). */
export const entityTag = (body: string): string =>
  `"${createHash('sha256').update(body).digest('base64url')}"`

/**
 * Whether the client's `if-none-match` names the current representation, so that 304 is the answer: a list of tags or `*`, compared weakly
 * (RFC 9110 §13.1.2).
 */
export function matchesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  const tags = ifNoneMatch.match(/(?:W\/)?"[^"]*"/g) ?? []
  return tags.some((sent) => sent.replace(/^W\//, '') === tag)
}

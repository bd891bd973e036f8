/** A pattern with IAM's `*` (anything) and `?` (one character) as a regular expression over the whole text. */
export function compileWildcard(pattern: string, flags = ''): RegExp {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*/g, '.*')
    .replace(/\?/g, '.')
  return new RegExp(`^${source}$`, `s${flags}`)
}

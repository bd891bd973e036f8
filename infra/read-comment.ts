/** Reads the doc comment of a declaration in a source text, as one line. Throws if there is no comment. */
export function readComment(source: string, declaration: string): string {
  const pattern = new RegExp(`/\\*\\*((?:(?!\\*/).)+)\\*/\\s+${declaration}`, 's')
  const [, comment] = pattern.exec(source) ?? []
  if (comment === undefined) throw new Error(`${declaration} has no comment that says what it is for`)
  return comment.replaceAll(/\s*\n\s*\*\s*/g, ' ').trim()
}

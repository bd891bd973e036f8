/**
 * An address as others may see it: the first and last character of its local part, `a***e@example.com`; only the first
 * where the local part has one or two, `a***@example.com`.
 */
export function maskEmail(email: string): string {
  const at = email.lastIndexOf('@')
  const local = Array.from(email.slice(0, at))
  const last = local.length > 2 ? (local.at(-1) ?? '') : ''
  return `${local[0] ?? ''}***${last}${email.slice(at)}`
}

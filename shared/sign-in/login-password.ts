import * as v from 'valibot'

/** A password as clients and the business server send it: its MD5 as 32 hexadecimal digits, in either case. */
export const LoginPassword = v.pipe(
  v.string(),
  v.regex(/^[0-9A-Fa-f]{32}$/, 'must be 32 hexadecimal digits'),
  v.toLowerCase(),
)

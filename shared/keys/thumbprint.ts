import { createHash } from 'node:crypto'

/** The `kid` of an RSA public key: SHA-256 over its required members in lexicographic order (RFC 7638 §3), base64url. */
export const thumbprint = ({ n, e }: { n: string; e: string }): string =>
  createHash('sha256')
    .update(JSON.stringify({ e, kty: 'RSA', n }))
    .digest('base64url')

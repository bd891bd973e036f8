import crypto, { randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import * as v from 'valibot'
import { generateMac, newestMacKey } from '../../aws/generate-mac.ts'
import { Failure, RuntimeFault } from '../../errors.ts'

/** Schema of a password as clients and the business server send it: its MD5 as 32 hex digits, any case. */
export const LoginPassword = v.pipe(
  v.string(),
  v.regex(/^[0-9A-Fa-f]{32}$/, 'must be 32 hexadecimal digits'),
  v.toLowerCase(),
)

/**
 * Parameters of new password hashes: argon2id, 19 MiB (`memory` is in KiB), two passes (OWASP Password
 * Storage Cheat Sheet). The password's MAC is hashed; `keyId` is the id of the MAC key.
 */
const currentParameters = () => ({ memory: 19_456, passes: 2, parallelism: 1, keyId: newestMacKey() })

/** An argon2id hash and the parameters that it was made with. */
type PasswordHash = ReturnType<typeof currentParameters> & { salt: Buffer; hash: Buffer }

const saltBytes = 16
const hashBytes = 32

const phcShape =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,3}),keyid=([\w-]+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

/** Formats a password hash in the PHC string format, one line of text. */
export function formatPhc({ memory, passes, parallelism, keyId, salt, hash }: PasswordHash): string {
  const base64 = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')
  const parameters = `m=${memory},t=${passes},p=${parallelism},keyid=${keyId}`
  return `$argon2id$v=19$${parameters}$${base64(salt)}$${base64(hash)}`
}

/** Parses a PHC string that formatPhc wrote. Throws on any other text, without quoting it. */
function parsePhc(text: string): PasswordHash {
  const [, memory, passes, parallelism, keyId, salt, hash] = phcShape.exec(text) ?? []
  if (keyId === undefined || salt === undefined || hash === undefined)
    throw new Error('a stored password hash is not readable')
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    keyId,
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  }
}

/**
 * Hashes a LoginPassword to the PHC string to store. The input of the hash is the password's MAC, so a stolen
 * table alone does not allow guessing.
 */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes)
  const parameters = { ...currentParameters(), salt }
  return formatPhc({ ...parameters, hash: await deriveHash(password, { ...parameters, hashBytes }) })
}

/** Whether a password matches a PHC string, and whether the string was made with outdated parameters. */
export async function verifyPassword(
  password: string,
  stored: string,
): Promise<{ right: boolean; outdated: boolean }> {
  const { hash, ...parameters } = parsePhc(stored)
  const actual = await deriveHash(password, { ...parameters, hashBytes: hash.length })
  const outdated = stored !== formatPhc({ ...currentParameters(), salt: parameters.salt, hash })
  return { right: timingSafeEqual(actual, hash), outdated }
}

/** A hash that no password matches. It makes sign-ins without a stored password take as long as others. */
export const dummyHash = (): string =>
  formatPhc({ ...currentParameters(), salt: randomBytes(saltBytes), hash: randomBytes(hashBytes) })

/** Throws `unavailable` if Node.js has no argon2id: Lambda's own build of Node.js may lack it. */
async function deriveHash(
  password: string,
  { keyId, salt, hashBytes, ...parameters }: Omit<PasswordHash, 'hash'> & { hashBytes: number },
): Promise<Buffer> {
  const message = await generateMac('password', password, keyId)
  try {
    // argon2 is not a named import, because a missing export would keep the whole function from loading.
    const derive = promisify(crypto.argon2)
    return await derive('argon2id', { ...parameters, message, nonce: salt, tagLength: hashBytes })
  } catch (error) {
    const cause = new RuntimeFault('argon2', { cause: error })
    throw new Failure('unavailable', { retryAfterSeconds: 60, cause })
  }
}

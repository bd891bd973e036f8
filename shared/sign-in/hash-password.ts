import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { generateMac } from './generate-mac.ts'
import { formatPhc, type PasswordHash, parsePhc } from './phc-string.ts'

type Parameters = Pick<PasswordHash, 'memory' | 'passes' | 'parallelism'>

/** argon2id with 19 MiB and two passes, OWASP's recommendation for servers. */
export const currentParameters: Parameters = { memory: 19_456, passes: 2, parallelism: 1 }

const saltBytes = 16
const hashBytes = 32

const derive = promisify(argon2)

/** The PHC string that is kept of a password, itself given as its MD5 in lower-case hexadecimal digits. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes)
  const mac = await generateMac('password', password)
  const hash = await deriveHash(mac, salt, currentParameters, hashBytes)
  return formatPhc({ ...currentParameters, salt, hash })
}

/** Whether a password is the one behind a PHC string, and whether that was made with other parameters than today's. */
export async function verifyPassword(
  password: string,
  stored: string,
): Promise<{ right: boolean; outdated: boolean }> {
  const { hash, salt, ...parameters } = parsePhc(stored)
  const mac = await generateMac('password', password)
  const right = timingSafeEqual(await deriveHash(mac, salt, parameters, hash.length), hash)
  return { right, outdated: isOutdated(parameters) }
}

/** A hash of no password, to spend the same time on accounts that have none. */
export const dummyHash: string = formatPhc({
  ...currentParameters,
  salt: randomBytes(saltBytes),
  hash: randomBytes(hashBytes),
})

const isOutdated = ({ memory, passes, parallelism }: Parameters): boolean =>
  memory !== currentParameters.memory ||
  passes !== currentParameters.passes ||
  parallelism !== currentParameters.parallelism

const deriveHash = (mac: Uint8Array, salt: Buffer, parameters: Parameters, tagLength: number) =>
  derive('argon2id', { message: mac, nonce: salt, tagLength, ...parameters })

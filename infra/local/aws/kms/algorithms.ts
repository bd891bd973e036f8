import * as crypto from 'node:crypto'
import { promisify } from 'node:util'
import { AwsError } from '../wire/http-messages.ts'

/** The properties of a KMS key spec, with KMS's names. */
export interface KeySpec {
  usage: 'SIGN_VERIFY' | 'GENERATE_VERIFY_MAC' | 'ENCRYPT_DECRYPT'
  /** Length in bits of an RSA modulus or of a symmetric key. */
  bits: number
  algorithm: string
}

/** The parts of a KMS key that cryptographic operations use. */
interface Key {
  record: { keyId: string }
  material: crypto.KeyObject
}

/** KMS encryption context: name-value pairs to which a ciphertext is bound. */
export type EncryptionContext = Record<string, string>

/** The only supported RSA signing algorithm: RS256 in JSON Web Signatures. */
export const signingAlgorithm = 'RSASSA_PKCS1_V1_5_SHA_256'

/** The KMS key specs that can be created in the local stack. */
export const keySpecs: Readonly<Record<string, KeySpec>> = {
  RSA_2048: { usage: 'SIGN_VERIFY', bits: 2048, algorithm: signingAlgorithm },
  RSA_3072: { usage: 'SIGN_VERIFY', bits: 3072, algorithm: signingAlgorithm },
  RSA_4096: { usage: 'SIGN_VERIFY', bits: 4096, algorithm: signingAlgorithm },
  HMAC_256: { usage: 'GENERATE_VERIFY_MAC', bits: 256, algorithm: 'HMAC_SHA_256' },
  SYMMETRIC_DEFAULT: { usage: 'ENCRYPT_DECRYPT', bits: 256, algorithm: 'SYMMETRIC_DEFAULT' },
}

const generatePair = promisify(crypto.generateKeyPair)

/** Generates key material as base64: PKCS #8 for RSA (slow, so on the thread pool), raw bytes otherwise. */
export async function generateMaterial({ usage, bits }: KeySpec): Promise<string> {
  if (usage !== 'SIGN_VERIFY') return crypto.randomBytes(bits / 8).toString('base64')
  const { privateKey } = await generatePair('rsa', { modulusLength: bits, publicExponent: 65537 })
  return privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64')
}

/** Reads key material that `generateMaterial` has written. */
export function readMaterial({ usage }: KeySpec, material: string): crypto.KeyObject {
  const key = Buffer.from(material, 'base64')
  if (usage !== 'SIGN_VERIFY') return crypto.createSecretKey(key)
  return crypto.createPrivateKey({ key, type: 'pkcs8', format: 'der' })
}

/** The DER prefix of DigestInfo for SHA-256 (RFC 8017 section 9.2, note 1). */
const digestPrefix = Buffer.from('3031300d060960864801650304020105000420', 'hex')
const padding = crypto.constants.RSA_PKCS1_PADDING

/** Signs a SHA-256 digest with the raw RSA operation, because Node's sign() would hash it again. */
export function signDigest({ material }: Key, digest: Buffer): Buffer {
  return crypto.privateEncrypt({ key: material, padding }, Buffer.concat([digestPrefix, digest]))
}

/** Whether a signature over a SHA-256 digest was made with this key. */
export function verifyDigest({ material }: Key, digest: Buffer, signature: Buffer): boolean {
  try {
    const opened = crypto.publicDecrypt({ key: material, padding }, signature)
    return opened.equals(Buffer.concat([digestPrefix, digest]))
  } catch {
    // OpenSSL throws for wrong padding: for example, if another key made the signature.
    return false
  }
}

// Format of a ciphertext: version, length of the key id, key id, nonce, tag, encrypted bytes.
const version = 1
const nonceBytes = 12
const tagBytes = 16

/** Encrypts with AES-256-GCM. The ciphertext names its key, so Decrypt needs no KeyId. */
export function encrypt(key: Key, plaintext: Buffer, context: EncryptionContext): Buffer {
  const { keyId } = key.record
  const nonce = crypto.randomBytes(nonceBytes)
  const cipher = crypto.createCipheriv('aes-256-gcm', key.material, nonce).setAAD(encodeContext(context))
  const encrypted = Buffer.concat([cipher.update(plaintext), cipher.final()])
  const header = [Buffer.from([version, keyId.length]), Buffer.from(keyId), nonce, cipher.getAuthTag()]
  return Buffer.concat([...header, encrypted])
}

/** Reads the key id from a ciphertext. Throws InvalidCiphertextException if there is none. */
export function readCiphertextKeyId(ciphertext: Buffer): string {
  const end = 2 + (ciphertext[1] ?? 0)
  if (ciphertext[0] !== version || ciphertext.length < end + nonceBytes + tagBytes) throw invalidCiphertext()
  return ciphertext.subarray(2, end).toString()
}

/** Decrypts. Throws InvalidCiphertextException if the ciphertext or its encryption context was changed. */
export function decrypt({ material }: Key, ciphertext: Buffer, context: EncryptionContext): Buffer {
  const sealed = ciphertext.subarray(2 + (ciphertext[1] ?? 0))
  const nonce = sealed.subarray(0, nonceBytes)
  const tagEnd = nonceBytes + tagBytes
  const decipher = crypto.createDecipheriv('aes-256-gcm', material, nonce)
  decipher.setAAD(encodeContext(context)).setAuthTag(sealed.subarray(nonceBytes, tagEnd))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(tagEnd)), decipher.final()])
  } catch {
    // The error gives no reason, because AES-GCM reports none and KMS returns none.
    throw invalidCiphertext()
  }
}

const invalidCiphertext = () => new AwsError('InvalidCiphertextException', 'The ciphertext is not valid.')

// Sorts the pairs of an encryption context, because the order in which a client sends them must not matter.
const encodeContext = (context: EncryptionContext): Buffer =>
  Buffer.from(JSON.stringify(Object.entries(context).sort(([left], [right]) => (left < right ? -1 : 1))))

import {
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  generateKeyPair,
  randomBytes,
  type KeyObject,
} from 'node:crypto'
import { promisify } from 'node:util'
import type { KeySpecification } from './key-specs.ts'

/** The secret half of a key, and of an RSA key the public one too. */
export interface KeyMaterial {
  secret: KeyObject
  public: KeyObject | undefined
}

const generatePair = promisify(generateKeyPair)

/** Makes new material as base64: PKCS #8 for RSA (made on the thread pool: it takes up to seconds), the bare bytes for secrets. */
export async function generateMaterial(specification: KeySpecification): Promise<string> {
  if (specification.modulusBits === undefined)
    return randomBytes(specification.secretBytes ?? 32).toString('base64')
  const { privateKey } = await generatePair('rsa', {
    modulusLength: specification.modulusBits,
    publicExponent: 65537,
  })
  return privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64')
}

/** Reads what generateMaterial made. */
export function readMaterial(specification: KeySpecification, material: string): KeyMaterial {
  const bytes = Buffer.from(material, 'base64')
  if (specification.modulusBits === undefined) return { secret: createSecretKey(bytes), public: undefined }
  const secret = createPrivateKey({ key: bytes, type: 'pkcs8', format: 'der' })
  return { secret, public: createPublicKey(secret) }
}

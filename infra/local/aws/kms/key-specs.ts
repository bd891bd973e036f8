/** What KMS can do with a key of a spec; the names are KMS's. */
export interface KeySpecification {
  usage: 'SIGN_VERIFY' | 'GENERATE_VERIFY_MAC' | 'ENCRYPT_DECRYPT'
  /** RSA's modulus in bits, or a secret's length in bytes. */
  modulusBits?: number
  secretBytes?: number
  algorithms: string[]
}

/** The algorithms that RSA signing keys offer. */
export const signingAlgorithms = [
  'RSASSA_PKCS1_V1_5_SHA_256',
  'RSASSA_PKCS1_V1_5_SHA_384',
  'RSASSA_PKCS1_V1_5_SHA_512',
] as const

/** The MAC algorithms, one for each HMAC key spec. */
export const macAlgorithms = ['HMAC_SHA_224', 'HMAC_SHA_256', 'HMAC_SHA_384', 'HMAC_SHA_512'] as const

/** The specs that this KMS makes keys of. */
export const keySpecifications: Readonly<Record<string, KeySpecification>> = {
  RSA_2048: { usage: 'SIGN_VERIFY', modulusBits: 2048, algorithms: [...signingAlgorithms] },
  RSA_3072: { usage: 'SIGN_VERIFY', modulusBits: 3072, algorithms: [...signingAlgorithms] },
  RSA_4096: { usage: 'SIGN_VERIFY', modulusBits: 4096, algorithms: [...signingAlgorithms] },
  HMAC_224: { usage: 'GENERATE_VERIFY_MAC', secretBytes: 28, algorithms: ['HMAC_SHA_224'] },
  HMAC_256: { usage: 'GENERATE_VERIFY_MAC', secretBytes: 32, algorithms: ['HMAC_SHA_256'] },
  HMAC_384: { usage: 'GENERATE_VERIFY_MAC', secretBytes: 48, algorithms: ['HMAC_SHA_384'] },
  HMAC_512: { usage: 'GENERATE_VERIFY_MAC', secretBytes: 64, algorithms: ['HMAC_SHA_512'] },
  SYMMETRIC_DEFAULT: { usage: 'ENCRYPT_DECRYPT', secretBytes: 32, algorithms: ['SYMMETRIC_DEFAULT'] },
}

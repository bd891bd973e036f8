import { constants, privateEncrypt, publicDecrypt, timingSafeEqual, type KeyObject } from 'node:crypto'

/** The DER prefix of DigestInfo by hash function (RFC 8017 section 9.2, note 1). */
const digestInfoPrefixes: Record<string, string> = {
  sha256: '3031300d060960864801650304020105000420',
  sha384: '3041300d060960864801650304020205000430',
  sha512: '3051300d060960864801650304020305000440',
}

/**
 * Signs a digest by RSASSA-PKCS1-v1_5. Node's sign() always hashes its input, so the digest is encoded here and
 * encrypted with the bare RSA operation. `hash` is Node's name of the hash function.
 */
export function signDigest(key: KeyObject, hash: string, digest: Buffer): Buffer {
  return privateEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, encodeDigest(hash, digest))
}

/** Whether a signature is this key's over this digest. */
export function verifyDigest(key: KeyObject, hash: string, digest: Buffer, signature: Buffer): boolean {
  const expected = encodeDigest(hash, digest)
  try {
    const opened = publicDecrypt({ key, padding: constants.RSA_PKCS1_PADDING }, signature)
    return opened.length === expected.length && timingSafeEqual(opened, expected)
  } catch {
    // OpenSSL throws when the padding is wrong, which is what a forged signature looks like.
    return false
  }
}

function encodeDigest(hash: string, digest: Buffer): Buffer {
  return Buffer.concat([Buffer.from(digestInfoPrefixes[hash] ?? '', 'hex'), digest])
}

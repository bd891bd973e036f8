import {
  constants,
  createHash,
  privateEncrypt,
  publicDecrypt,
  randomBytes,
  timingSafeEqual,
  type KeyObject,
} from 'node:crypto'

/** Hash functions as KMS's algorithm names end, with the DER prefix of DigestInfo (RFC 8017 section 9.2, note 1). */
const digestInfoPrefixes: Record<string, string> = {
  sha256: '3031300d060960864801650304020105000420',
  sha384: '3041300d060960864801650304020205000430',
  sha512: '3051300d060960864801650304020305000440',
}

/**
 * Signs a digest that the client has computed, which node:crypto's sign() cannot: it always hashes. Hence the
 * encoding here and the bare RSA operation there. `hash` is Node's name of the hash function.
 */
export function signDigest(key: KeyObject, scheme: 'PKCS1' | 'PSS', hash: string, digest: Buffer): Buffer {
  if (scheme === 'PKCS1') {
    const info = Buffer.concat([Buffer.from(digestInfoPrefixes[hash] ?? '', 'hex'), digest])
    return privateEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, info)
  }
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0
  const encoded = encodePss(hash, digest, randomBytes(digest.length), bits - 1)
  return privateEncrypt({ key, padding: constants.RSA_NO_PADDING }, encoded)
}

/** Verifies what signDigest made; false for whatever is no signature of this key over this digest. */
export function verifyDigest(
  key: KeyObject,
  scheme: 'PKCS1' | 'PSS',
  hash: string,
  digest: Buffer,
  signature: Buffer,
): boolean {
  const padding = scheme === 'PKCS1' ? constants.RSA_PKCS1_PADDING : constants.RSA_NO_PADDING
  let opened: Buffer
  try {
    opened = publicDecrypt({ key, padding }, signature)
  } catch {
    // OpenSSL throws where the padding does not come out: that is what a wrong signature looks like.
    return false
  }
  if (scheme === 'PKCS1') {
    const expected = Buffer.concat([Buffer.from(digestInfoPrefixes[hash] ?? '', 'hex'), digest])
    return opened.length === expected.length && timingSafeEqual(opened, expected)
  }
  const salt = recoverPssSalt(hash, opened, digest.length)
  if (salt === undefined) return false
  const expected = encodePss(hash, digest, salt, opened.length * 8 - 1)
  return timingSafeEqual(opened, expected)
}

/** EMSA-PSS-ENCODE of RFC 8017 section 9.1.1, from the message's hash on; the salt is as long as the hash, as in KMS. */
function encodePss(hash: string, digest: Buffer, salt: Buffer, bits: number): Buffer {
  const length = Math.ceil(bits / 8)
  const inner = createHash(hash).update(Buffer.alloc(8)).update(digest).update(salt).digest()
  const block = Buffer.alloc(length - inner.length - 1)
  block[block.length - salt.length - 1] = 1
  salt.copy(block, block.length - salt.length)
  const masked = xor(block, mask(hash, inner, block.length))
  masked[0] = (masked[0] ?? 0) & (0xff >> (8 * length - bits))
  return Buffer.concat([masked, inner, Buffer.from([0xbc])])
}

function recoverPssSalt(hash: string, encoded: Buffer, saltLength: number): Buffer | undefined {
  const blockLength = encoded.length - saltLength - 1
  if (encoded.at(-1) !== 0xbc || blockLength <= saltLength) return undefined
  const inner = encoded.subarray(blockLength, -1)
  return xor(encoded.subarray(0, blockLength), mask(hash, inner, blockLength)).subarray(
    blockLength - saltLength,
  )
}

/** MGF1 of RFC 8017 appendix B.2.1. */
function mask(hash: string, seed: Buffer, length: number): Buffer {
  const blocks: Buffer[] = []
  for (let size = 0, counter = 0; size < length; counter += 1) {
    const index = Buffer.alloc(4)
    index.writeUInt32BE(counter)
    const block = createHash(hash).update(seed).update(index).digest()
    blocks.push(block)
    size += block.length
  }
  return Buffer.concat(blocks).subarray(0, length)
}

function xor(left: Buffer, right: Buffer): Buffer {
  return Buffer.from(left.map((byte, index) => byte ^ (right[index] ?? 0)))
}

// Makes RSA keys quickly. Import this module before the local KMS. Tests of the key rotation make hundreds of
// keys, and new primes would take 120 ms for each. So the keys share primes, which is not secure.
import crypto, { type KeyPairKeyObjectResult, type RSAKeyPairOptions } from 'node:crypto'
import { promisify } from 'node:util'

const publicExponent = 65_537n

/** Keyed by length in bits: primes, and pairs of primes that are not yet used. */
const primes = new Map<number, bigint[]>()
const pairs = new Map<number, [bigint, bigint][]>()

/** Takes an unused pair of primes for a key. If none is left, combines a new prime with each known prime. */
function takePair(bits: number): [bigint, bigint] {
  for (;;) {
    const pair = pairs.get(bits)?.pop()
    if (pair !== undefined) return pair
    const next = crypto.generatePrimeSync(bits, { bigint: true })
    if (next % publicExponent === 1n) continue
    const known = primes.get(bits) ?? []
    pairs.set(bits, [...(pairs.get(bits) ?? []), ...known.map((other): [bigint, bigint] => [next, other])])
    primes.set(bits, [...known, next])
  }
}

/** Makes a key pair as `crypto.generateKeyPair('rsa', ...)` does. */
function generateQuickly(
  _type: 'rsa',
  { modulusLength }: RSAKeyPairOptions<'pem', 'pem'>,
): Promise<KeyPairKeyObjectResult> {
  const [p, q] = takePair(modulusLength / 2)
  const d = invert(publicExponent, (p - 1n) * (q - 1n))
  const parts = {
    n: p * q,
    e: publicExponent,
    d,
    p,
    q,
    dp: d % (p - 1n),
    dq: d % (q - 1n),
    qi: invert(q % p, p),
  }
  const jwk = Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, toBase64url(part)]))
  const privateKey = crypto.createPrivateKey({ key: { kty: 'RSA', ...jwk }, format: 'jwk' })
  return Promise.resolve({ privateKey, publicKey: crypto.createPublicKey(privateKey) })
}

/** The modular inverse of a number below the modulus (Euclid's algorithm); throws if there is none. */
const invert = (value: bigint, modulus: bigint): bigint =>
  value === 1n ? 1n : (modulus * (value - invert(modulus % value, value)) + 1n) / value

function toBase64url(value: bigint): string {
  const hex = value.toString(16)
  return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex').toString('base64url')
}

Object.defineProperty(crypto.generateKeyPair, promisify.custom, { value: generateQuickly })

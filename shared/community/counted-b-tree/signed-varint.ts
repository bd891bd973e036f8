/**
 * Signed whole numbers below 2^53 in as few bytes as they need: each byte has seven bits, the lowest first,
 * and its highest bit says whether another one follows; in the first byte, the next bit is the sign.
 */

/** Appends a number to a list of bytes. */
export function appendSigned(bytes: number[], value: number): void {
  const magnitude = Math.abs(value)
  let rest = Math.floor(magnitude / 64)
  bytes.push((magnitude % 64) + (value < 0 ? 64 : 0) + (rest > 0 ? 128 : 0))
  while (rest > 0) {
    const next = Math.floor(rest / 128)
    bytes.push((rest % 128) + (next > 0 ? 128 : 0))
    rest = next
  }
}

/** Creates a function that reads the next number from bytes. Throws a RangeError past their end. */
export function signedReader(bytes: Uint8Array): () => number {
  let offset = 0
  const nextByte = (): number => {
    const byte = bytes[offset]
    if (byte === undefined) throw new RangeError('the packed numbers end too early')
    offset += 1
    return byte
  }
  return () => {
    let byte = nextByte()
    const isNegative = (byte & 64) !== 0
    let magnitude = byte & 63
    for (let factor = 64; (byte & 128) !== 0; factor *= 128) {
      byte = nextByte()
      magnitude += (byte & 127) * factor
    }
    return isNegative ? -magnitude : magnitude
  }
}

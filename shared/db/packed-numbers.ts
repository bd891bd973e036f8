/**
 * Appends a signed whole number below 2^53 in as few bytes as it needs: each byte has seven bits, the lowest
 * first, and its highest bit says whether another one follows; in the first byte, the next bit is the sign.
 */
function appendSigned(bytes: number[], value: number): void {
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
function signedReader(bytes: Uint8Array): () => number {
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

/** Packs rows of numbers, each as its differences from the row before, which are small in sorted rows. */
export function packRows(rows: readonly (readonly number[])[]): Uint8Array {
  const bytes: number[] = []
  appendSigned(bytes, rows.length)
  for (const [i, row] of rows.entries())
    for (const [column, value] of row.entries()) appendSigned(bytes, value - (rows[i - 1]?.[column] ?? 0))
  return Uint8Array.from(bytes)
}

/** Unpacks rows of this many numbers. */
export function unpackRows(packed: Uint8Array, columns: number): number[][] {
  const read = signedReader(packed)
  let row = Array.from({ length: columns }, () => 0)
  return Array.from({ length: read() }, () => (row = row.map((before) => before + read())))
}

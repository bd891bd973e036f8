/** Encodes whole numbers that are not negative, seven bits a byte, low ones first (LEB128). */
export function encodeNumbers(numbers: readonly number[]): Uint8Array {
  const bytes: number[] = []
  for (let number of numbers) {
    for (; number >= 128; number = Math.floor(number / 128)) bytes.push((number % 128) + 128)
    bytes.push(number)
  }
  return Uint8Array.from(bytes)
}

/** Decodes what encodeNumbers has encoded. */
export function decodeNumbers(bytes: Uint8Array): number[] {
  const numbers: number[] = []
  let number = 0
  let scale = 1
  for (const byte of bytes) {
    number += (byte % 128) * scale
    scale *= 128
    if (byte >= 128) continue
    numbers.push(number)
    number = 0
    scale = 1
  }
  return numbers
}

/** Decodes numbers that were encoded two by two. */
export function decodePairs(bytes: Uint8Array): [number, number][] {
  const numbers = decodeNumbers(bytes)
  return Array.from({ length: numbers.length / 2 }, (_, i) => [numbers[2 * i] ?? 0, numbers[2 * i + 1] ?? 0])
}

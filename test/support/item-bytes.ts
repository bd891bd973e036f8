import type { AttributeValue } from '@aws-sdk/client-dynamodb'

/** An item as DynamoDB sends it: each value with its type. */
export type WireItem = Record<string, AttributeValue>

/** Bytes that DynamoDB adds to every item that it stores (Amazon DynamoDB: Item sizes and formats). */
export const overheadBytes = 100

/** The size of an item, by which AWS charges reads and writes (Amazon DynamoDB: Item sizes and formats). */
export const itemBytes = (item: WireItem): number =>
  Object.entries(item).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + valueBytes(value), 0)

function valueBytes(value: AttributeValue): number {
  if (value.S !== undefined) return Buffer.byteLength(value.S)
  if (value.N !== undefined) return numberBytes(value.N)
  if (value.B !== undefined) return binaryBytes(value.B)
  if (value.BOOL !== undefined || value.NULL !== undefined) return 1
  if (value.SS !== undefined) return sumOf(value.SS, (text) => Buffer.byteLength(text))
  if (value.NS !== undefined) return sumOf(value.NS, numberBytes)
  if (value.BS !== undefined) return sumOf(value.BS, binaryBytes)
  if (value.L !== undefined) return 3 + sumOf(value.L, (element) => 1 + valueBytes(element))
  if (value.M !== undefined) return 3 + Object.keys(value.M).length + itemBytes(value.M)
  throw new Error('DynamoDB has no such type')
}

const sumOf = <T>(values: readonly T[], bytesOf: (value: T) => number): number =>
  values.reduce((sum, value) => sum + bytesOf(value), 0)

/** DynamoDB stores a number without leading and trailing zeros. */
const numberBytes = (text: string): number => {
  const digits = (text.split(/e/i)[0] ?? '').replaceAll(/\D/g, '').replaceAll(/^0+|0+$/g, '')
  return Math.ceil(digits.length / 2) + 1
}

/** A binary value is base64 text in the JSON of a request, and a byte array in the SDK. */
const binaryBytes = (value: Uint8Array | string): number =>
  typeof value === 'string' ? Buffer.from(value, 'base64').length : value.length

import { type BillType, billTypes } from './bill-type.ts'

/** What the index of a wallet keeps of a bill: all that a client can select it by. */
export interface Mark {
  /** The bill's currency and type: see codeOf. */
  code: number
  /** Quarter of an hour in which it was booked, counted from the epoch. */
  quarter: number
}

/** Numbers of bills by the code of their currency and type. */
export type Counts = ReadonlyMap<number, number>

/** Number of quarters of an hour from the epoch to an instant (epoch milliseconds). */
export const quarterOf = (instant: number): number => Math.floor(instant / 900_000)

/** The types of bills in the order of their numbers in codes: a new type is added at the end of billTypes. */
const types = Object.keys(billTypes) as BillType[]
const maxTypes = 16

/** The code of a type and of a currency, given as its number in the wallet. */
export const codeOf = (currencyNumber: number, type: BillType): number =>
  currencyNumber * maxTypes + types.indexOf(type)

/** The number of the currency of a code, and its type. */
export function readCode(code: number): { currencyNumber: number; type: BillType } {
  const type = types[code % maxTypes]
  if (type === undefined) throw new Error('a mark has an unknown type')
  return { currencyNumber: Math.floor(code / maxTypes), type }
}

/** Adds a bill to numbers of bills. */
export const addToCounts = (counts: Map<number, number>, code: number, by = 1): Map<number, number> =>
  counts.set(code, (counts.get(code) ?? 0) + by)

/** Encodes marks in the order of time, in two or three bytes each: code, and quarters since the last mark. */
export function encodeMarks(marks: readonly Mark[]): Uint8Array {
  let before = 0
  const numbers = marks.flatMap(({ code, quarter }) => {
    const since = quarter - before
    before = quarter
    return [code, since]
  })
  return encodeNumbers(numbers)
}

/** Decodes what encodeMarks has encoded. */
export function decodeMarks(bytes: Uint8Array): Mark[] {
  let quarter = 0
  return pairs(decodeNumbers(bytes)).map(([code, since]) => {
    quarter += since
    return { code, quarter }
  })
}

/** Encodes numbers of bills, the same ones always in the same bytes; zeros are left out. */
export const encodeCounts = (counts: Counts): Uint8Array =>
  encodeNumbers(
    [...counts]
      .filter(([, count]) => count > 0)
      .sort(([a], [b]) => a - b)
      .flat(),
  )

/** Decodes what encodeCounts has encoded. */
export const decodeCounts = (bytes: Uint8Array): Counts => new Map(pairs(decodeNumbers(bytes)))

const pairs = (numbers: readonly number[]): [number, number][] =>
  Array.from({ length: numbers.length / 2 }, (_, i) => [numbers[2 * i] ?? 0, numbers[2 * i + 1] ?? 0])

/** Encodes whole numbers that are not negative, seven bits a byte, low ones first (LEB128). */
function encodeNumbers(numbers: readonly number[]): Uint8Array {
  const bytes: number[] = []
  for (let number of numbers) {
    for (; number >= 128; number = Math.floor(number / 128)) bytes.push((number % 128) + 128)
    bytes.push(number)
  }
  return Uint8Array.from(bytes)
}

function decodeNumbers(bytes: Uint8Array): number[] {
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

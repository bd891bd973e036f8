import { type BillFilter, BillType, filtersOf, selects } from './bill-type.ts'
import { addToCounts, codeOf, type Counts, type Mark, readCode } from './mark.ts'
import { emptyIndex, type Wallet } from './wallet.ts'

/**
 * The index of a wallet's bills: it finds the k-th bill that a filter selects, and how many it selects before
 * a day, in one read each, however many bills there are. Everything here is computed; stored-index.ts reads
 * and writes it.
 *
 * A bill is stored once, under its number. Its mark, two or three bytes, first goes into the wallet's own
 * item, which every posting writes anyway. When 64 marks are there, and one more, they become a chunk:
 *
 * - The chunk itself is stored under the time of its first bill, with the numbers of bills before it.
 * - For each of the five filters that select some bills but not all, a list has the numbers of its bills, in
 *   blocks of 128: the k-th is in block k / 128. A block has an attribute for each chunk, with one byte for
 *   each bill: its place in the chunk.
 *
 * Only bills decide what is in a chunk and in the lists, so whoever stores them stores the same.
 */
export interface Chunk {
  /** Its number; chunk 0 has bills 1 to 64. */
  number: number
  marks: readonly Mark[]
  /** Numbers of the bills before the chunk. */
  before: Counts
  /** Quarter of an hour of the first bill after the chunk. */
  until: number
}

/** Number of bills in a chunk. A place in a chunk must fit into a byte. */
export const chunkSize = 64

/** Number of bills in a block of a list: so many that it stays below a kilobyte, whatever the chunks. */
export const blockSize = 128

/** The wallet's currencies in the order of their numbers. */
export function currenciesOf({ holdings }: Pick<Wallet, 'holdings'>): string[] {
  const currencies: string[] = []
  for (const [currency, { number }] of holdings) currencies[number] = currency
  return currencies
}

/** The number of bills that a filter selects. */
export function lengthOf(filter: BillFilter, counts: Counts, currencies: readonly string[]): number {
  let length = 0
  for (const [code, count] of counts) if (selectsCode(filter, code, currencies)) length += count
  return length
}

function selectsCode(filter: BillFilter, code: number, currencies: readonly string[]): boolean {
  const { currencyNumber, type } = readCode(code)
  return selects(filter, currencies[currencyNumber] ?? '', type)
}

/** Numbers of all bills of a wallet. */
function countAll({ holdings }: Wallet): Map<number, number> {
  const counts = new Map<number, number>()
  for (const { number, bills } of holdings.values())
    for (const [type, { count }] of Object.entries(bills))
      addToCounts(counts, codeOf(number, type as BillType), count)
  return counts
}

/** Numbers of the bills that are in chunks. */
export function countInChunks(wallet: Wallet): Counts {
  const counts = countAll(wallet)
  for (const { code } of wallet.index?.tail ?? []) addToCounts(counts, code, -1)
  return counts
}

/** Number of the wallet's chunks. */
export const chunksOf = (wallet: Wallet): number =>
  Math.floor(lengthOf({}, countInChunks(wallet), []) / chunkSize)

/** Takes the next chunk out of the open part of a wallet's index; undefined if that is too short for one. */
export function takeChunk(wallet: Wallet): { chunk: Chunk; rest: Wallet } | undefined {
  const { index } = wallet
  const next = index?.tail[chunkSize]
  if (index === undefined || next === undefined) return undefined
  return {
    chunk: {
      number: chunksOf(wallet),
      marks: index.tail.slice(0, chunkSize),
      before: countInChunks(wallet),
      until: next.quarter,
    },
    rest: { ...wallet, index: { ...index, tail: index.tail.slice(chunkSize) } },
  }
}

/** What a chunk adds to a block of a list: the places of bills in the chunk. */
export interface BlockPart {
  filter: BillFilter
  block: number
  chunk: number
  places: number[]
}

/** The filters that may select some bills of these currencies, but not all: those that have lists. */
export const listsOf = (currencies: Iterable<string>): BillFilter[] =>
  [undefined, ...currencies]
    .flatMap((currency) =>
      [undefined, 1 as const, 2 as const, ...BillType.options].map((kind) => ({ currency, kind })),
    )
    .slice(1)

/** Names the list of a filter. */
export const listText = ({ currency, kind }: BillFilter): string => `${currency ?? '*'} ${kind ?? '*'}`

/** Everything that a chunk adds to the lists of its bills. */
export function partsOf({ number, marks, before }: Chunk, currencies: readonly string[]): BlockPart[] {
  const parts = new Map<string, BlockPart>()
  const lengths = new Map<string, number>()
  for (const [place, { code }] of marks.entries()) {
    const { currencyNumber, type } = readCode(code)
    for (const filter of filtersOf(currencies[currencyNumber] ?? '', type).slice(1)) {
      const list = listText(filter)
      const length = lengths.get(list) ?? lengthOf(filter, before, currencies)
      lengths.set(list, length + 1)
      const block = Math.floor(length / blockSize)
      const part = parts.get(`${list} ${block}`) ?? { filter, block, chunk: number, places: [] }
      part.places.push(place)
      parts.set(`${list} ${block}`, part)
    }
  }
  return [...parts.values()]
}

/** The parts of a block by chunk. */
export type Block = ReadonlyMap<number, Uint8Array>

/**
 * The numbers of the bills of a block, ascending. Of chunks that the wallet does not have yet, a posting may
 * have stored their parts already: these are left out.
 */
export const numbersIn = (block: Block, chunks: number): number[] =>
  [...block]
    .filter(([chunk]) => chunk < chunks)
    .sort(([a], [b]) => a - b)
    .flatMap(([chunk, places]) => Array.from(places, (place) => chunk * chunkSize + place + 1))

/** The numbers of the newest bills that a filter selects, those that no chunk has yet; ascending. */
export function numbersInTail(filter: BillFilter, wallet: Wallet): number[] {
  const first = chunksOf(wallet) * chunkSize + 1
  const currencies = currenciesOf(wallet)
  return (wallet.index?.tail ?? []).flatMap(({ code }, i) =>
    selectsCode(filter, code, currencies) ? [first + i] : [],
  )
}

/**
 * Counts the bills before a quarter of an hour, given the last chunk whose first bill is before it, if there
 * is one. Undefined if a later chunk of the wallet must be there: the chunk was read too early.
 */
export function countBefore(quarter: number, wallet: Wallet, chunk: Chunk | undefined): Counts | undefined {
  const { first, tail } = wallet.index ?? emptyIndex
  if (first === 0 || quarter <= first) return new Map()
  if (chunk !== undefined && quarter <= chunk.until) {
    const counts = new Map(chunk.before)
    for (const mark of chunk.marks) if (mark.quarter < quarter) addToCounts(counts, mark.code)
    return counts
  }
  if ((chunk?.number ?? -1) + 1 < chunksOf(wallet)) return undefined
  const counts = countAll(wallet)
  for (const mark of tail) if (mark.quarter >= quarter) addToCounts(counts, mark.code, -1)
  return counts
}

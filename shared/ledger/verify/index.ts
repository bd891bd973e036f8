import type { Item } from '../../db/table.ts'
import type { Bill } from '../bill.ts'
import { type BillFilter, codeOf } from '../bill-types.ts'
import {
  addToCounts,
  blockRange,
  type BlockPart,
  type Chunk,
  chunkRange,
  chunkSize,
  chunksOf,
  currenciesOf,
  encodeCounts,
  type IndexRange,
  listText,
  partsOf,
  toChunk,
} from '../page/index.ts'
import { numbersIn, readIndexRange, toBlock } from '../page/stored.ts'
import { encodeMarks, type Mark, quarterOf, type Wallet } from '../wallet.ts'

/** Reports a difference, if there is one. */
export type Compare = (currency: string | null, what: string, expected: string, actual: string) => void

/** A block of a list that is not complete yet: the parts of the chunks so far. */
interface OpenBlock {
  block: number
  parts: BlockPart[]
}

/**
 * Recomputes the index of a wallet from its bills, one after the other, and compares everything that is
 * stored of it: the numbers of currencies, the chunks, the blocks of each list, and the open part. What a
 * posting has stored of a chunk that the wallet did not have when it was read is ignored.
 */
export class IndexVerifier {
  private readonly wallet: Wallet
  private readonly compare: Compare
  private readonly chunks: number
  private readonly currencies: string[] = []
  private readonly before = new Map<number, number>()
  private readonly blocks = new Map<string, OpenBlock & { filter: BillFilter }>()
  private readonly stored = new Map<string, AsyncGenerator<Item>>()
  private marks: Mark[] = []
  private first = 0
  private taken = 0

  constructor(wallet: Wallet, compare: Compare) {
    this.wallet = wallet
    this.compare = compare
    this.chunks = chunksOf(wallet)
  }

  /** Adds the next bill. */
  async add({ currency, business_id: type, created_at: at }: Bill): Promise<void> {
    if (!this.currencies.includes(currency)) this.currencies.push(currency)
    const mark = { code: codeOf(this.currencies.indexOf(currency), type), quarter: quarterOf(at) }
    if (this.first === 0) this.first = mark.quarter
    this.marks.push(mark)
    if (this.marks.length > chunkSize && this.taken < this.chunks) await this.takeChunk(mark.quarter)
  }

  /** Compares what is left after the last bill. */
  async finish(): Promise<void> {
    const { first, tail } = this.wallet
    this.compare(
      null,
      'currencies of the index',
      this.currencies.join(' '),
      currenciesOf(this.wallet).join(' '),
    )
    this.compare(null, 'first quarter of an hour of the index', String(this.first), String(first))
    this.compare(null, 'marks of the newest bills', textOf(this.marks), textOf(tail))
    for (const open of this.blocks.values()) await this.compareBlock(open)
    for (const items of this.stored.values())
      for await (const item of items)
        if (!this.isNewer(item)) this.compare(null, `index item ${String(item['sk'])}`, 'none', 'stored')
  }

  /** Whether a posting has stored an item of the index since the wallet was read. */
  private isNewer(item: Item): boolean {
    if (item['marks'] !== undefined) return toChunk(item).number >= this.chunks
    return numbersIn(toBlock(item), this.chunks).length === 0
  }

  private async takeChunk(until: number): Promise<void> {
    const { compare } = this
    const chunk = { number: this.taken, marks: this.marks.slice(0, chunkSize), before: this.before, until }
    const stored = await this.next(chunkRange(this.wallet.id))
    compare(
      null,
      `chunk ${chunk.number} of the index`,
      describeChunk(chunk),
      stored ? describeChunk(toChunk(stored)) : 'none',
    )
    for (const part of partsOf(chunk, this.currencies)) await this.addPart(part)
    for (const { code } of chunk.marks) addToCounts(this.before, code)
    this.marks = this.marks.slice(chunkSize)
    this.taken += 1
  }

  private async addPart(part: BlockPart): Promise<void> {
    const list = listText(part.filter)
    const open = this.blocks.get(list)
    if (open?.block === part.block) open.parts.push(part)
    else {
      if (open !== undefined) await this.compareBlock(open)
      this.blocks.set(list, { filter: part.filter, block: part.block, parts: [part] })
    }
  }

  private async compareBlock({ filter, block, parts }: OpenBlock & { filter: BillFilter }): Promise<void> {
    const expected = new Map(parts.map(({ chunk, places }) => [chunk, Uint8Array.from(places)]))
    const stored = await this.next(blockRange(this.wallet.id, filter))
    const actual = stored === undefined ? 'none' : numbersIn(toBlock(stored), this.chunks).join(' ')
    const what = `block ${block} of the bills of ${listText(filter)}`
    this.compare(filter.currency ?? null, what, numbersIn(expected, this.chunks).join(' '), actual)
  }

  /** The next stored item of a range; undefined if there is none. */
  private async next(range: IndexRange): Promise<Item | undefined> {
    const items = this.stored.get(range[0].sk) ?? readIndexRange(range)
    this.stored.set(range[0].sk, items)
    const next = await items.next()
    return next.done ? undefined : next.value
  }
}

const textOf = (marks: readonly Mark[]): string => Buffer.from(encodeMarks(marks)).toString('hex')

const describeChunk = ({ number, marks, before, until }: Chunk): string =>
  `${number} ${textOf(marks)} ${Buffer.from(encodeCounts(before)).toString('hex')} ${until}`

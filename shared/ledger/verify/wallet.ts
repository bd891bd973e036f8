import { readAllRows } from '../../db/numbered-list.ts'
import { readItems } from '../../db/read.ts'
import type { Item } from '../../db/table.ts'
import { inBatches } from '../../in-batches.ts'
import { addBill, type Bill, billList, toBill } from '../bill.ts'
import { splitCode, toStoredCounts } from '../bill-types.ts'
import {
  blockKey,
  type Chunk,
  chunkKey,
  chunkSize,
  chunksOf,
  currenciesOf,
  listText,
  partsOf,
  toBlock,
  toChunk,
} from '../index/format.ts'
import { takeChunk } from '../index/write.ts'
import {
  countBills,
  encodeMarks,
  type Holding,
  holdingOf,
  type Mark,
  newWallet,
  readWallet,
  type Wallet,
  type WalletId,
} from '../wallet.ts'

/** A stored value of a wallet that differs from what the wallet's bills say. */
export interface Difference extends WalletId {
  /** Currency of the difference; null if the difference concerns the wallet as a whole. */
  currency: string | null
  what: string
  /** The value computed from the bills, as text. */
  expected: string
  actual: string
}

/** Finds the bills for which there is no record of the event or deposit that caused them. */
type FindUncaused = (bills: readonly Bill[]) => Promise<Bill[]>

/** Number of bills that are checked together. What they share in the bill index is read only once. */
const billsTogether = 16 * chunkSize

type Compare = (currency: string | null, what: string, expected: string, actual: string) => void

/**
 * Recomputes a wallet and its bill index from the bills, and reports every stored value that differs. With
 * `findUncaused`, also reports bills whose cause has no record. Ignores bills posted meanwhile.
 */
export async function verifyWallet(
  id: WalletId,
  findUncaused: FindUncaused = async () => [],
): Promise<{ bills: number; differences: Difference[] }> {
  const stored = await readWallet(id, { consistent: true })
  const differences: Difference[] = []
  const compare: Compare = (currency, what, expected, actual) => {
    if (expected !== actual) differences.push({ ...id, currency, what, expected, actual })
  }
  /** The wallet as it should be after the bills that were read. What it holds is all in its balances. */
  let expected = newWallet(id)
  let isLonger = false
  for await (const rows of inBatches(readAllRows(billList(id)), billsTogether)) {
    const counted = rows.slice(0, countBills(stored) - countBills(expected))
    const chunks: Chunk[] = []
    for (const row of counted) {
      expected = addRow(expected, row, compare)
      const taken = takeChunk(expected)
      if (taken === undefined || taken.chunk.number >= chunksOf(stored)) continue
      chunks.push(taken.chunk)
      expected = taken.rest
    }
    await compareChunks(id, chunks, currenciesOf(expected), compare)
    for (const bill of await findUncaused(counted.map(toBill)))
      compare(bill.currency, `record of the cause of bill ${bill.id}`, bill.reference, 'none')
    isLonger = counted.length < rows.length
    if (isLonger) break
  }
  compareWallets(expected, stored, compare)
  const bills = countBills(expected)
  if (isLonger && (await readWallet(id, { consistent: true })).version === stored.version)
    compare(null, 'number of stored bills', String(bills), `more than ${bills}`)
  return { bills, differences }
}

/** Adds a stored bill to the wallet as it should be, and compares the bill with the one that this makes. */
function addRow(before: Wallet, row: Item, compare: Compare): Wallet {
  const {
    id,
    currency,
    amount,
    business_id: type,
    reference,
    balance_after,
    created_at,
    occurred_at,
  } = toBill(row)
  const posting = { kind: 'post', currency, amount, type, reference } as const
  const { wallet, bill } = addBill(before, posting, created_at, occurred_at)
  compare(null, `number of bill ${id}`, String(bill.number), String(Number(row['sk'])))
  compare(null, `instant of bill ${id}`, String(Math.max(created_at, before.lastAt)), String(created_at))
  compare(currency, `balance_after of bill ${id}`, bill.balanceAfter.toFixed(), balance_after.toFixed())
  return wallet
}

/** Compares what two wallets say about their bills. */
function compareWallets(expected: Wallet, stored: Wallet, compare: Compare): void {
  compare(null, 'number of bills', String(countBills(expected)), String(countBills(stored)))
  compare(null, 'first quarter of an hour of the index', String(expected.first), String(stored.first))
  compare(null, 'currencies of the index', currenciesOf(expected).join(' '), currenciesOf(stored).join(' '))
  compare(null, 'marks of the newest bills', textOf(expected.tail), textOf(stored.tail))
  for (const code of new Set([...expected.counts.keys(), ...stored.counts.keys()])) {
    const { currencyNumber, type } = splitCode(code)
    const currency = currenciesOf(expected)[currencyNumber] ?? null
    const [should = 0, is = 0] = [expected.counts.get(code), stored.counts.get(code)]
    compare(currency, `number of bills of type ${type}`, String(should), String(is))
  }
  for (const currency of new Set([...expected.holdings.keys(), ...stored.holdings.keys()])) {
    const [should, is] = [holdingOf(expected, currency), holdingOf(stored, currency)]
    compare(currency, 'balance + hold', totalOf(should), totalOf(is))
    compare(currency, 'deposited', should.deposited.toFixed(), is.deposited.toFixed())
    compare(currency, 'withdrawal', should.withdrawal.toFixed(), is.withdrawal.toFixed())
    for (const part of ['balance', 'hold'] as const)
      if (is[part].lt('0')) compare(currency, part, 'not negative', is[part].toFixed())
  }
}

const totalOf = ({ balance, hold }: Holding): string => balance.plus(hold).toFixed()

/** Compares the stored bill index with `chunks`, which were computed from the bills. */
async function compareChunks(
  id: WalletId,
  chunks: readonly Chunk[],
  currencies: readonly string[],
  compare: Compare,
): Promise<void> {
  const parts = chunks.flatMap((chunk) => partsOf(chunk, currencies))
  const chunkKeys = chunks.map(({ marks, number }) => chunkKey(id, marks[0]?.quarter ?? 0, number))
  const blockKeys = parts.map(({ filter, block }) => blockKey(id, filter, block))
  const stored = await readItems([...chunkKeys, ...blockKeys], { consistent: true })
  for (const [i, chunk] of chunks.entries()) {
    const actual = stored[i] === undefined ? 'none' : describeChunk(toChunk(stored[i]))
    compare(null, `chunk ${chunk.number} of the index`, describeChunk(chunk), actual)
  }
  for (const [i, { filter, block, chunk, places }] of parts.entries()) {
    const own = toBlock(stored[chunks.length + i] ?? {}).get(chunk)
    const what = `chunk ${chunk} in block ${block} of the bills of ${listText(filter)}`
    compare(filter.currency ?? null, what, places.join(' '), own?.join(' ') ?? 'none')
  }
}

const textOf = (marks: readonly Mark[]): string => Buffer.from(encodeMarks(marks)).toString('hex')

const describeChunk = ({ number, marks, before, until }: Chunk): string =>
  `${number} ${textOf(marks)} ${JSON.stringify(toStoredCounts(before))} ${until}`

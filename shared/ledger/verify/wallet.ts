import { readAllRows } from '../../db/numbered-list.ts'
import { readItems } from '../../db/read.ts'
import { type Big, zero } from '../../money.ts'
import { type Bill, billList, toBill } from '../bill.ts'
import { addToCounts, codeOf, type Counts, readCode } from '../bill-types.ts'
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
import {
  countBills,
  encodeMarks,
  type Mark,
  quarterOf,
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

/** The sums of a wallet's bills of one currency. */
interface Totals {
  total: Big
  deposited: Big
  withdrawal: Big
}

/** Finds the bills for which there is no record of the event or deposit that caused them. */
type FindUncaused = (bills: readonly Bill[]) => Promise<Bill[]>

/** Maximum number of bills in a call of `findUncaused`. */
const billsTogether = 100

/** Number of chunks that are checked together. If they share a block, it is read only once. */
const chunksTogether = 16

type Compare = (currency: string | null, what: string, expected: string, actual: string) => void

/**
 * Recomputes a wallet and its bill index from the bills, and reports every stored value that differs. With
 * `findUncaused`, also reports bills whose cause has no record. Ignores bills posted meanwhile.
 */
export async function verifyWallet(
  id: WalletId,
  findUncaused: FindUncaused = async () => [],
): Promise<{ bills: number; differences: Difference[] }> {
  const wallet = await readWallet(id, { consistent: true })
  const differences: Difference[] = []
  const compare: Compare = (currency, what, expected, actual) => {
    if (expected !== actual) differences.push({ ...id, currency, what, expected, actual })
  }
  const totals = new Map<string, Totals>()
  const counted = countBills(wallet)
  const unchecked: Bill[] = []
  const checkCauses = async () => {
    for (const bill of await findUncaused(unchecked.splice(0)))
      compare(bill.currency, `record of the cause of bill ${bill.id}`, bill.reference, 'none')
  }
  /** The bill index as it should be, computed from the bills. */
  let marks: Mark[] = []
  let inChunks: Counts = new Map()
  const chunks: Chunk[] = []
  const checkChunks = () => compareChunks(id, chunks.splice(0), [...totals.keys()], compare)
  let bills = 0
  let lastAt = 0
  let isLonger = false
  for await (const row of readAllRows(billList(id))) {
    isLonger = bills === counted
    if (isLonger) break
    const bill = toBill(row)
    const { currency, created_at: at } = bill
    const sums = add(totals.get(currency), bill)
    totals.set(currency, sums)
    compare(null, `number of bill ${bill.id}`, String(bills + 1), String(Number(row['sk'])))
    compare(null, `instant of bill ${bill.id}`, String(Math.max(at, lastAt)), String(at))
    compare(currency, `balance_after of bill ${bill.id}`, sums.total.toFixed(), bill.balance_after.toFixed())
    const mark = {
      code: codeOf([...totals.keys()].indexOf(currency), bill.business_id),
      quarter: quarterOf(at),
    }
    if (bills === 0)
      compare(null, 'first quarter of an hour of the index', String(mark.quarter), String(wallet.first))
    marks.push(mark)
    const number = Math.floor(bills / chunkSize) - 1
    if (marks.length > chunkSize && number < chunksOf(wallet)) {
      const chunk = { number, marks: marks.slice(0, chunkSize), before: inChunks, until: mark.quarter }
      if (chunks.push(chunk) === chunksTogether) await checkChunks()
      inChunks = addMarks(inChunks, chunk.marks)
      marks = marks.slice(chunkSize)
    }
    bills += 1
    lastAt = at
    if (unchecked.push(bill) === billsTogether) await checkCauses()
  }
  await checkCauses()
  await checkChunks()
  compare(null, 'number of bills', String(bills), String(counted))
  compare(null, 'currencies of the index', [...totals.keys()].join(' '), currenciesOf(wallet).join(' '))
  compare(null, 'marks of the newest bills', textOf(marks), textOf(wallet.tail))
  for (const currency of new Set([...totals.keys(), ...wallet.holdings.keys()]))
    compareHolding(wallet, currency, totals.get(currency) ?? noTotals, compare)
  const counts = addMarks(inChunks, marks)
  for (const code of new Set([...counts.keys(), ...wallet.counts.keys()])) {
    const { currencyNumber, type } = readCode(code)
    const currency = [...totals.keys()][currencyNumber] ?? null
    const [count = 0, stored = 0] = [counts.get(code), wallet.counts.get(code)]
    compare(currency, `number of bills of type ${type}`, String(count), String(stored))
  }
  if (isLonger && (await readWallet(id, { consistent: true })).version === wallet.version)
    compare(null, 'number of stored bills', String(counted), `more than ${counted}`)
  return { bills, differences }
}

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

const addMarks = (counts: Counts, marks: readonly Mark[]): Counts =>
  marks.reduce((sum, { code }) => addToCounts(sum, code), counts)

const describeChunk = ({ number, marks, before, until }: Chunk): string =>
  `${number} ${textOf(marks)} ${[...before].sort(([a], [b]) => a - b).join(' ')} ${until}`

const noTotals: Totals = { total: zero, deposited: zero, withdrawal: zero }

function add(before: Totals = noTotals, { business_id: type, amount, amount_direction }: Bill): Totals {
  return {
    total: amount_direction === 1 ? before.total.plus(amount) : before.total.minus(amount),
    deposited: type === 'DEPOSIT' ? before.deposited.plus(amount) : before.deposited,
    withdrawal: type === 'WITHDRAWAL' ? before.withdrawal.plus(amount) : before.withdrawal,
  }
}

function compareHolding(wallet: Wallet, currency: string, totals: Totals, compare: Compare): void {
  const held = wallet.holdings.get(currency)
  const stored = (amount: Big | undefined) => (amount ?? zero).toFixed()
  compare(currency, 'balance + hold', totals.total.toFixed(), stored(held && held.balance.plus(held.hold)))
  compare(currency, 'deposited', totals.deposited.toFixed(), stored(held?.deposited))
  compare(currency, 'withdrawal', totals.withdrawal.toFixed(), stored(held?.withdrawal))
  if (held?.balance.lt('0')) compare(currency, 'balance', 'not negative', held.balance.toFixed())
  if (held?.hold.lt('0')) compare(currency, 'hold', 'not negative', held.hold.toFixed())
}

import { readRows } from '../db/numbered-list.ts'
import type { Item } from '../db/table.ts'
import { type Big, zero } from '../money.ts'
import { type Bill, listName, measureList, toBill } from './bill.ts'
import { type BillFilter, type BillType, filtersOf } from './bill-type.ts'
import { IndexVerifier } from './verify-index.ts'
import { readWallet, type Wallet, type WalletId } from './wallet.ts'

/** A difference that verification found: a stored value of a wallet that does not follow from its bills. */
export interface Difference extends WalletId {
  /** Currency of the difference; null if it is about the wallet as a whole. */
  currency: string | null
  what: string
  /** The value that follows from the bills, as a decimal. */
  expected: string
  /** The value that is stored. */
  actual: string
}

/** The sums of a wallet's bills of one currency. */
interface Totals {
  total: Big
  deposited: Big
  withdrawal: Big
  counts: Map<BillType, number>
}

/** Reports a difference, if there is one. */
export type Compare = (currency: string | null, what: string, expected: string, actual: string) => void

/** Finds which of these bills have no record of the event, or of the deposit, that caused them. */
export type FindUncaused = (bills: readonly Bill[]) => Promise<Bill[]>

/** Number of bills of which `findUncaused` is asked at a time. */
const chunkSize = 100

/**
 * Recomputes a wallet from its bills, first to last, and reports everything that differs: balances, sums, the
 * `balance_after` of each bill, counts, numbers, order, the index, or the copies of each bill in five more
 * lists, and with `findUncaused` its cause. The wallet may be written meanwhile: then only the bills that it
 * counted when it was read are checked.
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
  const lists = new ListReader(wallet)
  const index = wallet.index && new IndexVerifier(wallet, compare)
  const chunk: Bill[] = []
  const checkCauses = async () => {
    for (const bill of await findUncaused(chunk.splice(0)))
      compare(bill.currency, `record of the cause of bill ${bill.id}`, bill.reference, 'none')
  }
  let bills = 0
  let lastAt = 0
  for (;;) {
    const row = await lists.next({})
    if (row === undefined) break
    const bill = toBill(row)
    const { currency, created_at: at } = bill
    const sums = add(totals.get(currency), bill)
    totals.set(currency, sums)
    bills += 1
    compare(null, `number of bill ${bill.id}`, String(bills), String(Number(row['sk'])))
    compare(null, `instant of bill ${bill.id}`, String(Math.max(at, lastAt)), String(at))
    compare(currency, `balance_after of bill ${bill.id}`, sums.total.toFixed(), bill.balance_after.toFixed())
    await index?.add(bill)
    for (const filter of index ? [] : filtersOf(currency, bill.business_id).slice(1)) {
      const copy = await lists.next(filter)
      const actual = copy === undefined ? 'none' : JSON.stringify(toBill(copy))
      compare(currency, `bill ${bill.id} in ${listName(id, filter)}`, JSON.stringify(bill), actual)
    }
    lastAt = at
    if (chunk.push(bill) === chunkSize) await checkCauses()
  }
  await checkCauses()
  await index?.finish()
  compare(null, 'number of bills', String(bills), String(measureList(wallet, {}).length))
  for (const currency of new Set([...totals.keys(), ...wallet.holdings.keys()])) {
    compareHolding(wallet, currency, totals.get(currency) ?? noTotals, compare)
  }
  for (const { list, length } of await lists.findLonger())
    compare(null, `number of rows of ${list}`, String(length), `more than ${length}`)
  return { bills, differences }
}

/** Reads the lists of a wallet's bills side by side, up to the number of rows that the wallet counts. */
class ListReader {
  private readonly wallet: Wallet
  private readonly lists = new Map<string, { rows: AsyncGenerator<Item>; length: number; read: number }>()

  constructor(wallet: Wallet) {
    this.wallet = wallet
  }

  /** The next row of a list; undefined if there is none, or none that the wallet counts. */
  async next(filter: BillFilter): Promise<Item | undefined> {
    const name = listName(this.wallet.id, filter)
    const { length } = measureList(this.wallet, filter)
    const list = this.lists.get(name) ?? { rows: readRows(name), length, read: 0 }
    this.lists.set(name, list)
    if (list.read === length) return undefined
    list.read += 1
    const next = await list.rows.next()
    return next.done ? undefined : next.value
  }

  /** The lists with more rows than the wallet counts; none of a wallet that has just been written. */
  async findLonger(): Promise<{ list: string; length: number }[]> {
    const longer = []
    for (const [list, { rows, length }] of this.lists)
      if (!(await rows.next()).done) longer.push({ list, length })
    if (longer.length === 0) return []
    const { version } = await readWallet(this.wallet.id, { consistent: true })
    return version === this.wallet.version ? longer : []
  }
}

const noTotals: Totals = { total: zero, deposited: zero, withdrawal: zero, counts: new Map() }

function add(before: Totals = noTotals, { business_id: type, amount, amount_direction }: Bill): Totals {
  return {
    total: amount_direction === 1 ? before.total.plus(amount) : before.total.minus(amount),
    deposited: type === 'DEPOSIT' ? before.deposited.plus(amount) : before.deposited,
    withdrawal: type === 'WITHDRAWAL' ? before.withdrawal.plus(amount) : before.withdrawal,
    counts: new Map(before.counts).set(type, (before.counts.get(type) ?? 0) + 1),
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
  for (const type of new Set([...totals.counts.keys(), ...(Object.keys(held?.bills ?? {}) as BillType[])])) {
    const counted = held?.bills[type]?.count ?? 0
    compare(
      currency,
      `number of bills of type ${type}`,
      String(totals.counts.get(type) ?? 0),
      String(counted),
    )
  }
}

import { readRows } from '../../db/numbered-list.ts'
import { type Big, zero } from '../../money.ts'
import { type Bill, billList, toBill } from '../bill.ts'
import { BillType } from '../bill-types.ts'
import { countBills, readWallet, type Wallet, type WalletId } from '../wallet.ts'
import { type Compare, IndexVerifier } from './index.ts'

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

/** Finds which of these bills have no record of the event, or of the deposit, that caused them. */
type FindUncaused = (bills: readonly Bill[]) => Promise<Bill[]>

/** Number of bills of which `findUncaused` is asked at a time. */
const billsTogether = 100

/**
 * Recomputes a wallet from its bills, first to last, and reports everything that differs: balances, sums, the
 * `balance_after` of each bill, counts, numbers, order, the index, and with `findUncaused` its cause. The
 * wallet may be written meanwhile: then only the bills that it counted when it was read are checked.
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
  const index = new IndexVerifier(wallet, compare)
  const unchecked: Bill[] = []
  const checkCauses = async () => {
    for (const bill of await findUncaused(unchecked.splice(0)))
      compare(bill.currency, `record of the cause of bill ${bill.id}`, bill.reference, 'none')
  }
  let bills = 0
  let lastAt = 0
  let isLonger = false
  for await (const row of readRows(billList(id))) {
    isLonger = bills === counted
    if (isLonger) break
    const bill = toBill(row)
    const { currency, created_at: at } = bill
    const sums = add(totals.get(currency), bill)
    totals.set(currency, sums)
    bills += 1
    compare(null, `number of bill ${bill.id}`, String(bills), String(Number(row['sk'])))
    compare(null, `instant of bill ${bill.id}`, String(Math.max(at, lastAt)), String(at))
    compare(currency, `balance_after of bill ${bill.id}`, sums.total.toFixed(), bill.balance_after.toFixed())
    await index.add(bill)
    lastAt = at
    if (unchecked.push(bill) === billsTogether) await checkCauses()
  }
  await checkCauses()
  await index.finish()
  compare(null, 'number of bills', String(bills), String(counted))
  for (const currency of new Set([...totals.keys(), ...wallet.holdings.keys()])) {
    compareHolding(wallet, currency, totals.get(currency) ?? noTotals, compare)
  }
  if (isLonger && (await readWallet(id, { consistent: true })).version === wallet.version)
    compare(null, 'number of stored bills', String(counted), `more than ${counted}`)
  return { bills, differences }
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
  for (const type of BillType.options) {
    const [count, counted] = [totals.counts.get(type) ?? 0, held?.bills[type] ?? 0]
    compare(currency, `number of bills of type ${type}`, String(count), String(counted))
  }
}

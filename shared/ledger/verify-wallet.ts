import { readRows } from '../db/numbered-list.ts'
import { type Big, zero } from '../money.ts'
import { type Bill, toBill } from './bill.ts'
import { listName, measureList } from './bill-list.ts'
import type { BillType } from './bill-types.ts'
import { readWallet, type Wallet, type WalletId } from './wallet.ts'

/** Something about a wallet that does not follow from its bills. */
export interface Difference extends WalletId {
  /** Null where it is about the wallet as a whole. */
  currency: string | null
  what: string
  /** What the bills say, as a decimal. */
  expected: string
  /** What is stored. */
  actual: string
}

/** What the bills of a wallet add up to, for one currency. */
interface Totals {
  total: Big
  deposited: Big
  withdrawal: Big
  counts: Map<BillType, number>
}

/**
 * Recomputes a wallet from its bills, the first to the last, and tells all that differs: balances, sums, `balance_after` of
 * each bill, counts, numbers, order. Sound while the wallet is written to: it looks no further than the head that it read.
 */
export async function verifyWallet(id: WalletId): Promise<{ bills: number; differences: Difference[] }> {
  const wallet = await readWallet(id, { consistent: true })
  const differences: Difference[] = []
  const expect = (currency: string | null, what: string, expected: string, actual: string) => {
    if (expected !== actual) differences.push({ ...id, currency, what, expected, actual })
  }
  const totals = new Map<string, Totals>()
  const { length } = measureList(wallet, {})
  let bills = 0
  let lastAt = 0
  for await (const row of readRows(listName(id, {}), length)) {
    const bill = toBill(row)
    bills += 1
    expect(null, `number of bill ${bill.id}`, String(bills), String(Number(row['sk'])))
    if (bill.created_at < lastAt)
      expect(null, `instant of bill ${bill.id}`, String(lastAt), String(bill.created_at))
    lastAt = bill.created_at
    const its = add(totals.get(bill.currency), bill)
    totals.set(bill.currency, its)
    expect(
      bill.currency,
      `balance_after of bill ${bill.id}`,
      its.total.toFixed(),
      bill.balance_after.toFixed(),
    )
  }
  expect(null, 'number of bills', String(bills), String(length))
  for (const currency of new Set([...totals.keys(), ...wallet.holdings.keys()])) {
    compareHolding(wallet, currency, totals.get(currency) ?? nothing, expect)
  }
  return { bills, differences }
}

const nothing: Totals = { total: zero, deposited: zero, withdrawal: zero, counts: new Map() }

function add(before: Totals = nothing, { business_id: type, amount, amount_direction }: Bill): Totals {
  return {
    total: amount_direction === 1 ? before.total.plus(amount) : before.total.minus(amount),
    deposited: type === 'DEPOSIT' ? before.deposited.plus(amount) : before.deposited,
    withdrawal: type === 'WITHDRAWAL' ? before.withdrawal.plus(amount) : before.withdrawal,
    counts: new Map(before.counts).set(type, (before.counts.get(type) ?? 0) + 1),
  }
}

function compareHolding(
  wallet: Wallet,
  currency: string,
  totals: Totals,
  expect: (currency: string, what: string, expected: string, actual: string) => void,
): void {
  const held = wallet.holdings.get(currency)
  const stored = (amount: Big | undefined) => (amount ?? zero).toFixed()
  expect(currency, 'balance + hold', totals.total.toFixed(), stored(held && held.balance.plus(held.hold)))
  expect(currency, 'deposited', totals.deposited.toFixed(), stored(held?.deposited))
  expect(currency, 'withdrawal', totals.withdrawal.toFixed(), stored(held?.withdrawal))
  if (held?.balance.lt('0')) expect(currency, 'balance', 'not negative', held.balance.toFixed())
  if (held?.hold.lt('0')) expect(currency, 'hold', 'not negative', held.hold.toFixed())
  for (const type of new Set([...totals.counts.keys(), ...(Object.keys(held?.filed ?? {}) as BillType[])])) {
    const counted = held?.filed[type]?.count ?? 0
    expect(currency, `number of bills of type ${type}`, String(totals.counts.get(type) ?? 0), String(counted))
  }
}

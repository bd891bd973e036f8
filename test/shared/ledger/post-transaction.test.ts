import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { eventRecord } from '../../../shared/events/event-record.ts'
import type { NewBill } from '../../../shared/ledger/bill.ts'
import {
  decideBatch,
  type Decision,
  type LedgerTransaction,
} from '../../../shared/ledger/post-transaction.ts'
import { newWallet, type Wallet, type WalletId, type WalletName } from '../../../shared/ledger/wallet.ts'
import { Big, zero } from '../../../shared/money.ts'

const now = Date.parse('2026-03-01T12:00:00Z')
const idOf = (wallet: WalletName): WalletId => ({ userId: 7, wallet })

/** Builds an adjustment: a credit, or a debit if the amount is negative. */
interface Adjustment {
  key: string
  currency: string
  amount: number
}

const adjust = ({ key, currency, amount }: Adjustment): LedgerTransaction => ({
  record: eventRecord('wallet.adjusted', key, { currency, amount }),
  wallets: [
    {
      id: idOf('asset'),
      movements: [
        {
          kind: 'post',
          type: amount < 0 ? 'ADJUSTMENT_DEBIT' : 'ADJUSTMENT_CREDIT',
          currency,
          amount: new Big(String(Math.abs(amount))),
          reference: key,
        },
      ],
    },
  ],
})

const transfer = (amount: string): LedgerTransaction => {
  const posting = { kind: 'post', currency: 'USDT', amount: new Big(amount), reference: 'transfer' } as const
  return {
    wallets: [
      { id: idOf('asset'), movements: [{ ...posting, type: 'TRANSFER_OUT' }] },
      { id: idOf('reward'), movements: [{ ...posting, type: 'TRANSFER_IN' }] },
    ],
  }
}

/**
 * Computes the expected outcomes and balances of adjustments that arrive one after the other, by plain sums.
 */
function predict(adjustments: Adjustment[]) {
  const used = new Map<string, string>()
  const balances = new Map<string, number>()
  const outcomes = adjustments.map(({ key, currency, amount }) => {
    const content = `${currency} ${amount}`
    if (used.has(key)) return used.get(key) === content ? 'duplicate' : 'conflicting_content'
    const balance = (balances.get(currency) ?? 0) + amount
    if (balance < 0) return 'insufficient_balance'
    used.set(key, content)
    balances.set(currency, balance)
    return 'applied'
  })
  return { outcomes, balances: Object.fromEntries(balances) }
}

/** Lists the outcomes of a decision in order, a rejection by its code. */
const outcomesOf = ({ outcomes }: Decision) =>
  [...outcomes.values()].map((outcome) =>
    outcome instanceof Error ? outcome.message.split(':')[0] : outcome,
  )

const balancesOf = (wallet: Wallet | undefined) =>
  Object.fromEntries(
    [...(wallet?.holdings ?? [])].map(([currency, { balance }]) => [currency, Number(balance.toFixed())]),
  )

const billsOf = ({ bills }: Decision): NewBill[] => [...bills.values()].flat()

function check(adjustments: Adjustment[]): void {
  const before = newWallet(idOf('asset'))
  const decision = decideBatch([before], adjustments.map(adjust), now)
  const expected = predict(adjustments)
  expect(outcomesOf(decision)).toEqual(expected.outcomes)
  expect(balancesOf(decision.wallets[0])).toEqual(expected.balances)
  expect(decision.wallets.map(({ version }) => version)).toEqual([1])
  const sums = new Map<string, Big>()
  const bills = billsOf(decision)
  for (const { currency, amount, type, balanceAfter, createdAt } of bills) {
    const signed = type === 'ADJUSTMENT_DEBIT' ? amount.neg() : amount
    sums.set(currency, (sums.get(currency) ?? zero).plus(signed))
    expect(balanceAfter.eq(sums.get(currency) ?? zero), 'balance_after follows').toBe(true)
    expect(createdAt).toBe(now)
  }
  expect(bills.map(({ number }) => number)).toEqual(bills.map((_, i) => i + 1))
  expect(before).toEqual(newWallet(idOf('asset')))
}

/**
 * The adjustments to combine: credits, debits, one key with three contents, and debits that only an earlier
 * credit covers.
 */
const alphabet: Adjustment[] = [
  { key: 'a', currency: 'USDT', amount: 5 },
  { key: 'a', currency: 'USDT', amount: 6 },
  { key: 'a', currency: 'USDT', amount: -5 },
  { key: 'b', currency: 'USDT', amount: -5 },
  { key: 'c', currency: 'USDT', amount: -4 },
  { key: 'd', currency: 'BTC', amount: 1 },
]

/** All sequences of adjustments of the given length. */
const sequences = (length: number): Adjustment[][] =>
  length === 0
    ? [[]]
    : sequences(length - 1).flatMap((start) => alphabet.map((adjustment) => [...start, adjustment]))

describe('the decision of a batch', () => {
  it.each([0, 1, 2, 3, 4])(
    'a ledger batch decides every sequence of %d adjustments as if each were decided alone, one after the other',
    (length) => {
      for (const sequence of sequences(length)) check(sequence)
    },
  )

  it('a ledger batch decides random adjustments as if each were decided alone, one after the other', () => {
    const adjustment = fc.record({
      key: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      currency: fc.constantFrom('USDT', 'BTC'),
      amount: fc.integer({ min: -9, max: 9 }).filter((amount) => amount !== 0),
    })
    fc.assert(fc.property(fc.array(adjustment, { maxLength: 12 }), check), { numRuns: 1_000 })
  })

  it('a debit that a ledger batch contains twice is applied at its second place if a credit in between covers it', () => {
    const debit = { key: 'debit', currency: 'USDT', amount: -5 }
    const credit = { key: 'credit', currency: 'USDT', amount: 5 }
    const decision = decideBatch([newWallet(idOf('asset'))], [debit, credit, debit].map(adjust), now)
    expect(outcomesOf(decision)).toEqual(['insufficient_balance', 'applied', 'applied'])
    expect(balancesOf(decision.wallets[0])).toEqual({ USDT: 0 })
  })

  it('no bill is dated before the newest bill of its wallet', () => {
    const before = { ...newWallet(idOf('asset')), version: 3, lastAt: now + 5_000 }
    const decision = decideBatch([before], [adjust(alphabet[0] as Adjustment)], now)
    const { bookedAt, wallets } = decision
    expect([bookedAt, billsOf(decision)[0]?.createdAt, wallets[0]?.lastAt]).toEqual([
      now + 5_000,
      now + 5_000,
      now + 5_000,
    ])
    expect(wallets[0]?.version).toBe(4)
  })

  it('a transfer changes both wallets or none', () => {
    const funded = decideBatch([newWallet(idOf('asset'))], [adjust(alphabet[0] as Adjustment)], now)
    const before = [...funded.wallets, newWallet(idOf('reward'))]
    const good = decideBatch(before, [transfer('3')], now)
    expect(good.wallets.map(balancesOf)).toEqual([{ USDT: 2 }, { USDT: 3 }])
    const rejected = decideBatch(before, [transfer('6')], now)
    expect(outcomesOf(rejected)).toEqual(['insufficient_balance'])
    expect(rejected.wallets.map(balancesOf)).toEqual([{ USDT: 5 }, {}])
    expect(billsOf(rejected)).toEqual([])
  })
})

it('a wallet of a hundred currencies takes no other currency, and goes on with those that it has', () => {
  const credits = Array.from({ length: 101 }, (_, i) => adjust({ key: `${i}`, currency: `C${i}`, amount: 1 }))
  const again = adjust({ key: 'again', currency: 'C99', amount: 1 })
  const { outcomes } = decideBatch([newWallet(idOf('asset'))], [...credits, again], now)
  expect([...outcomes.values()].slice(98)).toEqual([
    'applied',
    'applied',
    expect.objectContaining({ code: 'too_many_currencies' }),
    'applied',
  ])
})

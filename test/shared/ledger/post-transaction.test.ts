import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { NewBill } from '../../../shared/ledger/bill.ts'
import { decide, type LedgerTransaction } from '../../../shared/ledger/post-transaction.ts'
import { newWallet, type Wallet } from '../../../shared/ledger/wallet.ts'
import { Big, zero } from '../../../shared/money.ts'

const at = Date.parse('2026-03-01T12:00:00Z')
const asset = newWallet({ userId: 7, wallet: 'asset' })

const adjust = (currency: string, amount: number): LedgerTransaction => {
  const type = amount < 0 ? 'ADJUSTMENT_DEBIT' : 'ADJUSTMENT_CREDIT'
  const posting = { kind: 'post', type, currency, amount: new Big(String(Math.abs(amount))) } as const
  const wallets = [{ wallet: 'asset' as const, movement: { ...posting, reference: 'r' } }]
  return { at, occurredAt: at, userId: 7, wallets }
}

const transfer = (amount: string): LedgerTransaction => {
  const posting = { kind: 'post', currency: 'USDT', amount: new Big(amount), reference: 'transfer' } as const
  return {
    userId: 7,
    occurredAt: at,
    wallets: [
      { wallet: 'asset', movement: { ...posting, type: 'TRANSFER_OUT' } },
      { wallet: 'reward', movement: { ...posting, type: 'TRANSFER_IN' } },
    ],
  }
}

const balancesOf = (wallet: Wallet | undefined) =>
  Object.fromEntries(
    [...(wallet?.holdings ?? [])].map(([currency, { balance }]) => [currency, Number(balance.toFixed())]),
  )

function decideAll(transactions: LedgerTransaction[]) {
  let wallet = asset
  const bills: NewBill[] = []
  const rejections = transactions.map((transaction) => {
    const decision = decide([wallet], transaction)
    if (decision.rejection !== undefined) return decision.rejection
    wallet = decision.wallets[0] ?? wallet
    bills.push(...decision.bills)
    return undefined
  })
  return { wallet, bills, rejections }
}

it('adjustments add up exactly, leave no balance negative, and each balance_after is the sum so far', () => {
  const adjustment = fc.record({
    currency: fc.constantFrom('USDT', 'BTC'),
    amount: fc.integer({ min: -9, max: 9 }).filter((amount) => amount !== 0),
  })
  fc.assert(
    fc.property(fc.array(adjustment, { maxLength: 12 }), (adjustments) => {
      const balances: Record<string, number> = {}
      const expected = adjustments.map(({ currency, amount }) => {
        const balance = (balances[currency] ?? 0) + amount
        if (balance < 0) return 'insufficient_balance'
        balances[currency] = balance
        return undefined
      })
      const { wallet, bills, rejections } = decideAll(
        adjustments.map(({ currency, amount }) => adjust(currency, amount)),
      )
      expect(rejections).toEqual(expected)
      expect(balancesOf(wallet)).toEqual(balances)
      expect(wallet.version).toBe(bills.length)
      const sums = new Map<string, Big>()
      for (const { currency, amount, type, balanceAfter } of bills) {
        const signed = type === 'ADJUSTMENT_DEBIT' ? amount.neg() : amount
        sums.set(currency, (sums.get(currency) ?? zero).plus(signed))
        expect(balanceAfter.eq(sums.get(currency) ?? zero), 'balance_after follows').toBe(true)
      }
      expect(bills.map(({ number }) => number)).toEqual(bills.map((_, i) => i + 1))
    }),
    { numRuns: 300 },
  )
})

it('no bill is dated before the newest bill of its wallet', () => {
  const { wallets, bills } = decide([{ ...asset, lastAt: at + 5_000 }], adjust('USDT', 5)) as {
    wallets: Wallet[]
    bills: NewBill[]
  }
  expect([bills[0]?.createdAt, wallets[0]?.lastAt]).toEqual([at + 5_000, at + 5_000])
})

it('a transfer changes both wallets or none', () => {
  const before = [decideAll([adjust('USDT', 5)]).wallet, newWallet({ userId: 7, wallet: 'reward' })]
  expect(decide(before, transfer('6'))).toEqual({ rejection: 'insufficient_balance' })
  const good = decide(before, transfer('3'))
  expect(good.rejection === undefined && good.wallets.map(balancesOf)).toEqual([{ USDT: 2 }, { USDT: 3 }])
})

it('a wallet with a hundred currencies refuses a further one, and still accepts the currencies that it has', () => {
  const credits = Array.from({ length: 101 }, (_, i) => adjust(`C${i}`, 1))
  const { rejections } = decideAll([...credits, adjust('C99', 1)])
  expect(rejections.slice(98)).toEqual([undefined, undefined, 'too_many_currencies', undefined])
})

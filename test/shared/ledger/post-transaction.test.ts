import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Movement, NewBill } from '../../../shared/ledger/bill.ts'
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

/** Posts adjustments. Tells what became of them, and what an exact sum of small integers expects. */
function postAdjustments(adjustments: readonly { currency: string; amount: number }[]) {
  const balances: Record<string, number> = {}
  const rejections = adjustments.map(({ currency, amount }) => {
    const balance = (balances[currency] ?? 0) + amount
    if (balance < 0) return 'insufficient_balance'
    balances[currency] = balance
    return undefined
  })
  const decided = decideAll(adjustments.map(({ currency, amount }) => adjust(currency, amount)))
  return { ...decided, expected: { balances, rejections } }
}

const adjustment = fc.record({
  currency: fc.constantFrom('USDT', 'BTC'),
  amount: fc.integer({ min: -9, max: 9 }).filter((amount) => amount !== 0),
})
const checkAdjustments = (check: (posted: ReturnType<typeof postAdjustments>) => void) =>
  fc.assert(
    fc.property(fc.array(adjustment, { maxLength: 12 }), (some) => {
      check(postAdjustments(some))
    }),
    { numRuns: 300 },
  )

it('adjustments add up exactly', () => {
  checkAdjustments(({ wallet, expected }) => expect(balancesOf(wallet)).toEqual(expected.balances))
})

it('an adjustment is refused if it would make a balance negative', () => {
  checkAdjustments(({ rejections, expected }) => expect(rejections).toEqual(expected.rejections))
})

it('the balance_after of each adjustment is the sum so far', () => {
  checkAdjustments(({ bills }) => {
    const sums = new Map<string, Big>()
    for (const { currency, amount, type, balanceAfter } of bills) {
      const signed = type === 'ADJUSTMENT_DEBIT' ? amount.neg() : amount
      sums.set(currency, (sums.get(currency) ?? zero).plus(signed))
      expect(balanceAfter.eq(sums.get(currency) ?? zero), 'balance_after follows').toBe(true)
    }
  })
})

it('the bills of adjustments are numbered from 1, and the wallet has a version for each', () => {
  checkAdjustments(({ wallet, bills }) => {
    expect(wallet.version).toBe(bills.length)
    expect(bills.map(({ number }) => number)).toEqual(bills.map((_, i) => i + 1))
  })
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

describe('a wallet with a hundred currencies', () => {
  const hundred = Array.from({ length: 100 }, (_, i) => adjust(`C${i}`, 1))

  it('refuses a further one', () => {
    const { rejections } = decideAll([...hundred, adjust('C100', 1)])
    expect(rejections.slice(98)).toEqual([undefined, undefined, 'too_many_currencies'])
  })

  it('still accepts the currencies that it has', () => {
    expect(decideAll([...hundred, adjust('C100', 1), adjust('C99', 1)]).rejections.at(-1)).toBeUndefined()
  })
})

it('whatever is held can be settled and cancelled in any order, however large the sums', () => {
  const near = (digits: string) => [`${'9'.repeat(20 - digits.length)}${digits}`, digits]
  const amounts = [...near('1'), ...near('5'), '0.5', '0.000000000000000001', '0.999999999999999999']
  const step = fc.record({
    what: fc.constantFrom('credit', 'debit', 'request', 'request', 'settle', 'cancel', 'settle unrequested'),
    amount: fc.constantFrom(...amounts),
    which: fc.nat(),
  })
  let accepted = 0
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 60 }), (steps) => {
      let wallet = asset
      const held: Big[] = []
      const post = (movement: Movement) => {
        const decision = decide([wallet], {
          at,
          occurredAt: at,
          userId: 7,
          wallets: [{ wallet: 'asset', movement }],
        })
        if (decision.rejection === undefined) wallet = decision.wallets[0] ?? wallet
        return decision.rejection
      }
      for (const { what, amount: digits, which } of steps) {
        const common = { currency: 'USDT', reference: 'r', amount: new Big(digits) }
        const posting = { kind: 'post', ...common } as const
        if (what === 'credit') post({ ...posting, type: 'DEPOSIT' })
        else if (what === 'debit') post({ ...posting, type: 'ADJUSTMENT_DEBIT' })
        else if (what === 'settle unrequested') post({ ...posting, type: 'WITHDRAWAL' })
        else if (what === 'request') {
          if (post({ ...common, kind: 'hold' }) === undefined) held.push(common.amount)
        } else {
          const [amount] = held.splice(which % Math.max(1, held.length), 1)
          if (amount === undefined) continue
          accepted += 1
          const end: Movement =
            what === 'cancel'
              ? { ...common, kind: 'release', amount }
              : { ...posting, type: 'WITHDRAWAL', fromHold: true, amount }
          expect(post(end)).toBeUndefined()
        }
      }
    }),
    { numRuns: 1_000 },
  )
  expect(accepted).toBeGreaterThan(1_000)
})

it('two withdrawals of which only one could be settled are not both requested', () => {
  const common = { currency: 'USDT', reference: 'r' }
  const part = new Big('39999999999999999999.999999999999999999')
  const credit = (amount: string) => ({
    ...common,
    kind: 'post' as const,
    type: 'DEPOSIT' as const,
    amount: new Big(amount),
  })
  const movements: Movement[] = [
    credit('30000000000000000000'),
    { ...credit('30000000000000000000'), type: 'WITHDRAWAL' },
    credit('80000000000000000000'),
    { ...common, kind: 'hold', amount: part },
    { ...common, kind: 'hold', amount: part },
    { ...common, kind: 'release', amount: part },
    { ...common, kind: 'hold', amount: part },
  ]
  const { rejections } = decideAll(
    movements.map((movement) => ({
      at,
      occurredAt: at,
      userId: 7,
      wallets: [{ wallet: 'asset', movement }],
    })),
  )
  const [fits, refused] = [undefined, 'balance_too_large']
  expect(rejections).toEqual([fits, fits, fits, fits, refused, fits, fits])
})

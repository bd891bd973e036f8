import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Item } from '../../../shared/db/table.ts'
import { type BillFilter, billTypes, BillType, selects } from '../../../shared/ledger/bill-types.ts'
import { applyMovement } from '../../../shared/ledger/bill.ts'
import {
  type BlockPart,
  blockSize,
  type Chunk,
  chunksOf,
  currenciesOf,
  lengthOf,
  listText,
  partsOf,
} from '../../../shared/ledger/index/format.ts'
import { countBefore, numbersIn, numbersInTail } from '../../../shared/ledger/index/read.ts'
import { takeChunk } from '../../../shared/ledger/index/write.ts'
import { newWallet, toWallet, type Wallet, walletItem } from '../../../shared/ledger/wallet.ts'
import { Big } from '../../../shared/money.ts'
import { asStored } from '../../support/as-stored.ts'

const quarter = 900_000
const start = 1_900_000
const credits = BillType.options.filter((type) => billTypes[type].direction === 1)
const currencies = ['USDT', 'BTC', 'ETH', 'DOGE']

interface TestBill {
  currency: string
  type: BillType
  quarter: number
}

/** Random bills of a wallet. The first ones are credits, so that no later debit exceeds the balance. */
const history = fc
  .array(
    fc.record({
      currency: fc.constantFrom(...currencies),
      // Some bill types are rare: many chunks of the bill index (64 bills each) have at most one such bill.
      type: fc.oneof(
        { weight: 30, arbitrary: fc.constantFrom(...credits) },
        fc.constantFrom(...BillType.options),
      ),
      gap: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.constantFrom(1, 2, 40, 130, 20_000)),
    }),
    { maxLength: 500, size: 'max' },
  )
  .map((drawn): TestBill[] => {
    let at = start
    return drawn.map(({ currency, type, gap }, i) => {
      at += gap
      const isCredit = i < currencies.length * 4
      return {
        currency: isCredit ? (currencies[i % currencies.length] ?? '') : currency,
        type: isCredit ? 'DEPOSIT' : type,
        quarter: at,
      }
    })
  })

/** Posts bills to a new wallet. Returns the wallet, and those chunks of its bill index that are full. */
function post(bills: readonly TestBill[]): { wallet: Wallet; chunks: Chunk[] } {
  const chunks: Chunk[] = []
  let wallet = newWallet({ userId: 7, wallet: 'asset' })
  for (const { currency, type, quarter: at } of bills) {
    const taken = takeChunk(wallet)
    if (taken !== undefined) {
      chunks.push(taken.chunk)
      wallet = taken.rest
    }
    const amount = new Big(billTypes[type].direction === 1 ? '100' : '0.1')
    const posting = { kind: 'post', type, currency, amount, reference: 'r' } as const
    const applied = applyMovement(wallet, posting, at * quarter, at * quarter)
    if (applied.rejection !== undefined) throw new Error(applied.rejection)
    wallet = applied.wallet
  }
  return { wallet, chunks }
}

/** All filters that a client can ask for. The first one selects all bills. */
const filters: BillFilter[] = [undefined, ...currencies, 'XRP'].flatMap((currency) =>
  [undefined, 1 as const, 2 as const, ...BillType.options].map((kind) => ({ currency, kind })),
)

/** The bill numbers of all bills that a filter selects, found by looking at every bill. */
const numbersOf = (bills: readonly TestBill[], filter: BillFilter): number[] =>
  bills.flatMap(({ currency, type }, i) => (selects(filter, currency, type) ? [i + 1] : []))

function readNumbers(parts: readonly BlockPart[], wallet: Wallet, filter: BillFilter): number[] {
  const numbers: number[] = []
  for (let block = 0; ; block += 1) {
    const own = parts.filter((part) => part.block === block && listText(part.filter) === listText(filter))
    if (own.length === 0) return [...numbers, ...numbersInTail(filter, wallet)]
    expect(numbers.length, 'all blocks before the last are full').toBe(block * blockSize)
    const places = new Map(own.map((part) => [part.chunk, Uint8Array.from(part.places)]))
    numbers.push(...numbersIn(places))
  }
}

it('for each filter, the bill index lists the bills that the filter selects, in order', () => {
  fc.assert(
    fc.property(history, (bills) => {
      const { wallet, chunks } = post(bills)
      const parts = chunks.flatMap((chunk) => partsOf(chunk, currenciesOf(wallet)))
      for (const filter of filters.slice(1))
        expect(readNumbers(parts, wallet, filter)).toEqual(numbersOf(bills, filter))
    }),
    { numRuns: 30, endOnFailure: true },
  )
})

it('for each filter, the bill index counts the bills before a quarter of an hour', () => {
  fc.assert(
    fc.property(history, fc.nat({ max: 300 }), fc.nat(), (bills, gap, position) => {
      const { wallet, chunks } = post(bills)
      const until = (bills[position % bills.length]?.quarter ?? start) + (gap % 3) - 1
      const before = bills.filter((bill) => bill.quarter < until)
      const chunk = chunks.findLast(({ marks }) => (marks[0]?.quarter ?? 0) < until)
      const counts = countBefore(until, wallet, chunk)
      for (const filter of filters)
        expect(counts && lengthOf(filter, counts, currenciesOf(wallet))).toBe(
          numbersOf(before, filter).length,
        )
    }),
    { endOnFailure: true },
  )
})

it('if a read misses the newest chunks of the bill index, the number of bills is correct or undefined', () => {
  fc.assert(
    fc.property(history, fc.nat(), fc.nat(), (bills, place, age) => {
      const { wallet, chunks } = post(bills)
      fc.pre(chunks.length > 0)
      const until = (bills[place % bills.length]?.quarter ?? 0) + 1
      const seen = chunks.slice(0, age % chunks.length)
      const counts = countBefore(
        until,
        wallet,
        seen.findLast(({ marks }) => (marks[0]?.quarter ?? 0) < until),
      )
      const expected = bills.filter((bill) => bill.quarter < until).length
      if (counts !== undefined) expect(lengthOf({}, counts, [])).toBe(expected)
    }),
    { endOnFailure: true },
  )
})

it('a wallet with a bill index has the same index after the wallet is stored and read', () => {
  fc.assert(
    fc.property(history, (bills) => {
      const { wallet, chunks } = post(bills)
      const { holdings, ...item } = asStored(walletItem(wallet))
      // DynamoDB can return the entries of a map in any order. The test tries this with the reverse order.
      const reversed = Object.fromEntries(Object.entries(holdings as Item).reverse())
      const read = toWallet(wallet.id, { ...item, holdings: reversed })
      expect([read.first, read.tail]).toEqual([wallet.first, wallet.tail])
      expect(currenciesOf(read)).toEqual(currenciesOf(wallet))
      expect(chunksOf(read)).toBe(chunks.length)
    }),
    { numRuns: 20, endOnFailure: true },
  )
})

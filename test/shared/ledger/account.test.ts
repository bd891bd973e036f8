import { afterEach, beforeEach, expect, it } from 'vitest'
import { type AssetSummary, summarizeAssets } from '../../../shared/ledger/account.ts'
import { holdingOf, newWallet, type Wallet } from '../../../shared/ledger/wallet.ts'
import { Big } from '../../../shared/money.ts'
import { settings } from '../../../shared/settings.ts'
import { stringifyExact } from '../../../shared/stringify-exact.ts'

const quoteBefore = settings().quoteCurrency
beforeEach(() => void Object.assign(settings(), { quoteCurrency: 'USDT' }))
afterEach(() => void Object.assign(settings(), { quoteCurrency: quoteBefore }))

const empty = newWallet({ userId: 1, wallet: 'asset' })

const walletOf = (amounts: Record<string, [balance: string, hold: string]>): Wallet => ({
  ...empty,
  holdings: new Map(
    Object.entries(amounts).map(([currency, [balance, hold]], number) => [
      currency,
      { ...holdingOf(empty, currency), number, balance: new Big(balance), hold: new Big(hold) },
    ]),
  ),
})

const wallet = walletOf({
  USDT: ['10', '2.5'],
  BTC: ['0.1', '0.000000000000000001'],
  UNRATED: ['7', '1'],
  ETH: ['0', '3'],
})
const rates = {
  asOf: 1_700_000_000_000,
  rates: new Map([
    ['BTC', new Big('50000')],
    ['ETH', new Big('0.5')],
  ]),
}

const read = (summary: AssetSummary): unknown =>
  JSON.parse(stringifyExact(summary), (_key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && context?.source !== undefined ? context.source : value,
  )

it('assets are valued with their holds, except those without a rate', () => {
  expect(read(summarizeAssets(wallet, rates))).toEqual({
    currency: 'USDT',
    total: '5014.00000000000005',
    balance: '5010',
    hold: '4.00000000000005',
    rates_at: '1700000000000',
    assets: [
      {
        currency: 'BTC',
        balance: '0.1',
        hold: '0.000000000000000001',
        rate: '50000',
        value: '5000.00000000000005',
      },
      { currency: 'ETH', balance: '0', hold: '3', rate: '0.5', value: '1.5' },
      { currency: 'UNRATED', balance: '7', hold: '1', rate: null, value: null },
      { currency: 'USDT', balance: '10', hold: '2.5', rate: '1', value: '12.5' },
    ],
  })
})

it('before any rates are published, the totals contain only the quote currency, at the rate 1', () => {
  expect(read(summarizeAssets(wallet, { asOf: null, rates: new Map() }))).toMatchObject({
    total: '12.5',
    balance: '10',
    hold: '2.5',
    rates_at: null,
  })
})

import { expect, it } from 'vitest'
import { reportLedger } from '../../../../infra/ops/reports/ledger.ts'
import { linesOf } from './lines-of.ts'

it('`ledger verify` says how much it compared if there are no differences, and nothing else', () => {
  const report = reportLedger({ wallets: 2, bills: 1, differences: [] })
  expect(report.ok).toBe(true)
  expect(linesOf(report)).toEqual(['No differences: 2 wallets and 1 bill'])
})

it('`ledger verify` names the wallet of each difference, and shows all digits of both amounts', () => {
  const wallet = { userId: 7, wallet: 'asset' as const }
  const report = reportLedger({
    wallets: 2,
    bills: 3,
    differences: [
      {
        ...wallet,
        currency: 'USDT',
        what: 'balance + hold',
        expected: '8.5',
        actual: '8.500000000000000001',
      },
      { ...wallet, currency: null, what: 'number of bills', expected: '3', actual: '4' },
    ],
  })
  expect(report.ok).toBe(false)
  expect(linesOf(report)).toEqual([
    '2 differences in 1 of 2 wallets',
    '',
    '  USER  WALLET  CURRENCY  WHAT DIFFERS',
    '  7     asset   USDT      balance + hold',
    '    expected 8.5, found 8.500000000000000001',
    '  7     asset   -         number of bills',
    '    expected 3, found 4',
  ])
})

import { expect, it, vi } from 'vitest'

it.each([
  ['true', undefined],
  ['false', { first: 0, tail: [] }],
])('with keepBillLists %s a new wallet has six lists or an index', async (value, index) => {
  vi.stubEnv('KEEP_BILL_LISTS', value)
  vi.resetModules()
  const { newWallet } = await import('../../../shared/ledger/wallet.ts')
  expect(newWallet({ userId: 7, wallet: 'asset' }).index).toEqual(index)
})

import { expect, it } from 'vitest'
import { events } from '../../../infra/events.ts'
import { BillType, billTypes, codeOf, splitCode } from '../../../shared/ledger/bill-types.ts'

it('the stored code of a bill type never changes', () => {
  expect(Object.fromEntries(Object.entries(billTypes).map(([type, { code }]) => [type, code])))
    // To add a bill type, add a line. Never change an existing line: the codes are stored in bills.
    .toEqual({
      DEPOSIT: 0,
      WITHDRAWAL: 1,
      TRANSFER_IN: 2,
      TRANSFER_OUT: 3,
      REWARD: 4,
      PACKAGE_PURCHASE: 5,
      ADJUSTMENT_CREDIT: 6,
      ADJUSTMENT_DEBIT: 7,
      WITHDRAWAL_FEE: 8,
    })
})

it('the stored code of a bill contains the currency and the bill type', () => {
  for (const type of BillType.options)
    for (const currencyNumber of [0, 1, 99])
      expect(splitCode(codeOf(currencyNumber, type))).toEqual({ currencyNumber, type })
  expect(() => splitCode(15)).toThrow('unknown type')
})

it('for each type of bill, the bus accepts the event that causes it', () => {
  const detailTypes = events.map(({ detailType }) => detailType)
  for (const { event } of Object.values(billTypes)) expect(detailTypes).toContain(event)
})

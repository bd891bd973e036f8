import { expect, it } from 'vitest'
import { transact } from '../../../../shared/db/write.ts'
import { type Deposit, putDeposit, readDeposit, readDepositOf } from '../../../../shared/deposits/deposit.ts'
import { Big } from '../../../../shared/money.ts'
import { useMemoryTable } from '../../../support/memory-table.ts'

// Eventually consistent reads find nothing.
useMemoryTable(() => () => 60_000)

const deposit: Deposit = {
  ...{ id: 'id', userId: 7, currency: 'USDT', currency_network: 'TRON', amount: new Big('1'), address: 'a' },
  ...{ tag: null, txid: 't', output_index: 0, confirmations: 0, required_confirmations: 1 },
  ...{ status: 'PENDING', created_at: 1, occurred_at: 1, credited_at: null },
  ...{ applied: new Uint8Array(6), version: 1, ordinal: 1, currencyOrdinal: 1 },
}

it('a new deposit is found though an eventually consistent read does not see it yet', async () => {
  await transact(putDeposit(deposit))
  expect(await readDeposit('id')).toMatchObject({ id: 'id' })
  expect(await readDepositOf(7, 'id')).toMatchObject({ id: 'id' })
})

import { expect, it } from 'vitest'
import { writeItem } from '../../../../shared/db/write.ts'
import {
  listWithdrawal,
  putWithdrawal,
  readWithdrawal,
  readWithdrawalOf,
  readWithdrawalsPage,
  type Withdrawal,
} from '../../../../shared/ledger/withdrawal-record.ts'
import { Big } from '../../../../shared/money.ts'
import { useMemoryTable } from '../../../support/memory-table.ts'

// Eventually consistent reads do not find the withdrawals, but find them in their lists.
useMemoryTable(() => (name) => (name.includes('WD#') ? 60_000 : 0))

async function addWithdrawal(id: string): Promise<Withdrawal> {
  const withdrawal: Withdrawal = {
    id,
    userId: 7,
    currency: 'USDT',
    amount: new Big('1'),
    status: 'REQUESTED',
    created_at: 1,
    occurred_at: 1,
    settled_at: null,
    settled_amount: null,
    fee: null,
    openedAs: 'REQUESTED',
    version: 1,
    ordinal: 1,
    currencyOrdinal: 1,
  }
  await writeItem(putWithdrawal(withdrawal))
  await listWithdrawal(withdrawal)
  return withdrawal
}

it('a new withdrawal is found though an eventually consistent read does not see it yet', async () => {
  const { id } = await addWithdrawal('one')
  expect(await readWithdrawal(id)).toMatchObject({ id })
  expect(await readWithdrawalOf(7, id)).toMatchObject({ id })
})

it('a page shows a new withdrawal though an eventually consistent read does not see it yet', async () => {
  const { id } = await addWithdrawal('two')
  const { records } = await readWithdrawalsPage({ current: 1, size: 20 }, 7)
  expect(records).toMatchObject([{ id }])
})

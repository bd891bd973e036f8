import { beforeAll, expect, it } from 'vitest'
import { chunkOfBills, addBills, readPage } from '../../../support/ledger.ts'
import { useMemoryTable } from '../../../support/memory-table.ts'

// Eventually consistent reads find the wallet, but none of its bills and no part of their index.
useMemoryTable(() => (name) => (/B[LX]#/.test(name) ? 60_000 : 0))

const id = { userId: 7, wallet: 'asset' } as const

beforeAll(() => addBills(id, chunkOfBills))

it.each([
  ['of all bills', { current: 2 }, 70, 20],
  ['of a currency', { currency: 'BTC' }, 2, 2],
  ['of a currency and a period', { currency: 'USDT', beginTime: '2026-03-02' }, 57, 20],
  ['until a day', { endTime: '2026-03-01' }, 12, 12],
])(
  'a page %s is complete though eventually consistent reads find nothing',
  async (_what, query, total, count) => {
    const page = await readPage(id.userId, id.wallet, query)
    expect([page.total, page.records.length]).toEqual([total, count])
  },
)

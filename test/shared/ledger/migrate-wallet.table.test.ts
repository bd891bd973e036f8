import { beforeAll, describe, expect, it, vi } from 'vitest'
import { handler as walletAdjusted } from '../../../functions/intake/wallet.adjusted.ts'
import { queryFirst } from '../../../shared/db/read.ts'
import { listName } from '../../../shared/ledger/bill.ts'
import { listsOf } from '../../../shared/ledger/bill-index.ts'
import { BillType, billTypes } from '../../../shared/ledger/bill-type.ts'
import { dropLists, migrateWallet } from '../../../shared/ledger/migrate-wallet.ts'
import { verifyWallet } from '../../../shared/ledger/verify-wallet.ts'
import { readWallet, type WalletId } from '../../../shared/ledger/wallet.ts'
import { deliver, interceptQueues } from '../../support/deliver.ts'
import {
  addBills,
  addUser,
  adjustment,
  describeWallet,
  readAllBills,
  readPage,
} from '../../support/ledger.ts'
import { runAndDieAt } from '../../support/tamper-calls.ts'

const start = Date.parse('2026-03-01T12:00:00Z')
const currencies = ['USDT', 'BTC', 'ETH']
const creditTypes = BillType.options.filter((type) => billTypes[type] === 1)

/** Adds a wallet with six lists of bills, of several currencies and types. */
async function addOldWallet(count: number): Promise<WalletId> {
  const id = { userId: await addUser(), wallet: 'asset' } as const
  const bills = Array.from({ length: count }, (_, i) => ({
    currency: currencies[(i * i) % 3] ?? '',
    type: i % 7 === 6 ? ('ADJUSTMENT_DEBIT' as const) : (creditTypes[i % creditTypes.length] ?? 'DEPOSIT'),
    at: start + i * 1_000_000,
  }))
  await addBills(id, bills, { lists: true })
  return id
}

const queries = [
  {},
  { currency: 'BTC' },
  { amountDirection: 2 as const },
  { currency: 'USDT', beginTime: '2026-03-02' },
]

/** All that a user can see of a wallet. */
async function readAnswers(id: WalletId) {
  const bills = []
  for (const query of queries) bills.push(await readAllBills(id.userId, id.wallet, query))
  return { holdings: describeWallet(await readWallet(id, { consistent: true })).holdings, bills }
}

const countRows = async (pk: string): Promise<number> => {
  const query = { KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': pk } }
  return (await queryFirst(query, 1_000)).length
}

/** Number of rows in all five lists of a wallet. */
async function countListRows(id: WalletId): Promise<number> {
  const counts = await Promise.all(listsOf(currencies).map((filter) => countRows(listName(id, filter))))
  return counts.reduce((sum, each) => sum + each, 0)
}

describe('the migration of a wallet from six lists to an index', () => {
  beforeAll(interceptQueues)

  it('a migrated wallet shows the same pages, takes further bills, and keeps one copy of each bill', async () => {
    const id = await addOldWallet(200)
    const before = await readAnswers(id)
    expect(await countListRows(id)).toBe(5 * 200)
    await migrateWallet(id)
    expect(await readAnswers(id)).toEqual(before)
    expect(await dropLists(id, 60_000), 'lists may still be read').toBe(false)
    expect(await dropLists(id, 0)).toBe(true)
    expect(await countListRows(id)).toBe(0)
    expect(await readAnswers(id)).toEqual(before)
    expect(await verifyWallet(id)).toEqual({ bills: 200, differences: [] })
    for (let i = 0; i < 3; i += 1) await deliver(walletAdjusted, adjustment(id.userId))
    expect(await countListRows(id)).toBe(0)
    expect(await verifyWallet(id)).toEqual({ bills: 203, differences: [] })
    await migrateWallet(id)
    expect(await verifyWallet(id)).toEqual({ bills: 203, differences: [] })
  })

  it.each([true, false])(
    'a migration that dies at any call goes on where it was, that call carried out: %s',
    async (carriedOut) => {
      const id = await addOldWallet(135)
      const credits = { amountDirection: 1, currency: 'BTC' } as const
      const before = await readPage(id.userId, id.wallet, credits)
      for (let call = 1; ; call += 1) {
        const died = await runAndDieAt(
          async () => {
            await migrateWallet(id)
            await dropLists(id, 0)
          },
          call,
          carriedOut,
        )
        if (!died) break
        expect(await readPage(id.userId, id.wallet, credits)).toEqual(before)
      }
      expect(await countListRows(id)).toBe(0)
      expect(await verifyWallet(id)).toEqual({ bills: 135, differences: [] })
    },
    60_000,
  )

  it('bills that are posted during a migration are in the index, too', async () => {
    const id = await addOldWallet(100)
    let isDone = false
    const post = async () => {
      while (!isDone) await deliver(walletAdjusted, adjustment(id.userId))
    }
    const posted = post()
    await vi.waitFor(async () => expect((await readWallet(id)).version).toBeGreaterThan(2))
    await migrateWallet(id)
    isDone = true
    await posted
    expect((await readWallet(id, { consistent: true })).index).toBeDefined()
    expect((await verifyWallet(id)).differences).toEqual([])
  })
})

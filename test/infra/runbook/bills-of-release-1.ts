import { expect } from 'vitest'
import type { LocalStack } from '../../../infra/local/local-stack.ts'
import { queryFirst } from '../../../shared/db/read.ts'
import { listName } from '../../../shared/ledger/bill.ts'
import { listsOf } from '../../../shared/ledger/bill-index.ts'
import { readWallet, type WalletId } from '../../../shared/ledger/wallet.ts'
import { scopes } from '../../../shared/tokens/scopes.ts'
import { createAccessToken } from '../../support/community.ts'
import { addUser, adjustment } from '../../support/ledger.ts'
import { putEvents } from '../../support/put-event.ts'
import { get, settle } from './answers.ts'
import { follow } from './follow.ts'
import { deployFunctions } from './own-stack.ts'

const pages = [
  'current=1&size=20',
  'current=4&size=20',
  'current=1&size=20&currency=BTC',
  'current=1&size=20&amountDirection=2',
]

/**
 * Rehearses the move from release 1 to this one: a wallet with more bills than a chunk of its index, another
 * that was made while both releases served, and one that was made afterwards, with further bills at each step
 * and during the migration.
 */
export async function billsOfRelease1(stack: LocalStack): Promise<void> {
  const url = stack.baseUrl
  const { ops } = follow('Bills of release 1', url)
  const newWallet = async (): Promise<WalletId> => ({ userId: await addUser(), wallet: 'asset' })
  const wallets = [await newWallet()]
  const credits = (userId: number, count: number) =>
    Array.from({ length: count }, (_, i) => adjustment(userId, i % 2 === 0 ? {} : { currency: 'BTC' }))
  const post = async () => {
    for (const { userId } of wallets) await putEvents('wallet.adjusted', credits(userId, 2))
    await settle(url)
  }
  const haveIndexes = () =>
    Promise.all(wallets.map(async (id) => (await readWallet(id, { consistent: true })).index !== undefined))

  await deployFunctions(stack, { keepBillLists: true })
  for (const { userId } of wallets) await putEvents('wallet.adjusted', credits(userId, 72))
  wallets.push(await newWallet())
  await post()
  expect(await haveIndexes()).toEqual([false, false])

  await deployFunctions(stack, {})
  wallets.push(await newWallet())
  await post()
  expect(await haveIndexes()).toEqual([false, false, true])
  expect((await ops('ledger verify')).code).toBe(0)

  const countAllCopies = () => Promise.all(wallets.map(countCopies))
  expect((await countAllCopies()).map((copies) => copies > 0)).toEqual([true, true, false])
  const before = await readPages(url, wallets)
  const migration = ops('ledger migrate')
  expect(await readPages(url, wallets)).toEqual(before)
  await post()
  expect((await migration).code).toBe(0)
  await post()
  expect(await haveIndexes()).toEqual([true, true, true])
  expect((await ops('ledger verify')).code).toBe(0)
  expect(await countAllCopies()).toEqual([0, 0, 0])
  const totals = (answers: unknown[]) =>
    answers.map((answer) => (answer as { data: { total: number } }).data.total)
  // Four further bills in each wallet, two of them in BTC, and no debit.
  const more = [4, 4, 2, 0]
  const expected = totals(before).map((total, i) => total + (more[i % pages.length] ?? 0))
  expect(totals(await readPages(url, wallets))).toEqual(expected)
}

/** Number of the copies of a wallet's bills in the lists of release 1. */
async function countCopies(id: WalletId): Promise<number> {
  const lists = listsOf(['USDT', 'BTC']).map((filter) =>
    queryFirst(
      {
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': listName(id, filter) },
        ConsistentRead: true,
      },
      100,
    ),
  )
  return (await Promise.all(lists)).flat().length
}

/** Reads pages of the bills of these wallets, as their owners do. */
async function readPages(url: string, wallets: readonly WalletId[]): Promise<unknown[]> {
  const answers: unknown[] = []
  for (const { userId } of wallets) {
    const token = await createAccessToken(userId, [...scopes])
    for (const page of pages) answers.push(await get(url, token, `/account/bills?${page}`))
  }
  return answers
}

import { randomInt, randomUUID } from 'node:crypto'
import { transact, type Write, writeItem } from '../../shared/db/write.ts'
import { putUser } from '../../shared/registration/register.ts'
import { applyMovement, type Bill, putBill } from '../../shared/ledger/bill.ts'
import { type BillsQuery, readBillsPage } from '../../shared/ledger/find-bills.ts'
import type { BillType } from '../../shared/ledger/bill-types.ts'
import { closeChunk } from '../../shared/ledger/index/write.ts'
import {
  newWallet,
  putWallet,
  readWallet,
  type Wallet,
  type WalletId,
  type WalletName,
} from '../../shared/ledger/wallet.ts'
import { Big } from '../../shared/money.ts'
import { writeAll } from './write-all.ts'

/** Adds a user without a sign-in record or a profile, because the ledger checks only the user's own item. */
export async function addUser(userId = randomInt(1, 2 ** 47)): Promise<number> {
  const write = putUser({
    userId,
    email: `${userId}@example.com`,
    nickname: `user ${userId}`,
    referrerId: undefined,
    registeredAt: Date.now(),
  })
  // Uses a transaction: if the SDK repeated a single write that has taken effect, the repetition would fail.
  await transact([write])
  return userId
}

/** Builds the `detail` of a `wallet.adjusted` event. Default: a credit of 1 USDT to the asset wallet. */
export const adjustment = (userId: number, changes: object = {}) => ({
  adjustment_id: randomUUID(),
  user_id: userId,
  wallet: 'asset',
  currency: 'USDT',
  amount: '1',
  direction: 1,
  reason: 'test',
  at: 1_700_000_000_000,
  ...changes,
})

/** Reads one page of a wallet's bills. */
export async function readPage(userId: number, wallet: WalletName, query: Partial<BillsQuery> = {}) {
  const whole = { current: 1, size: 20, ...query } as BillsQuery
  return readBillsPage(whole, { userId, wallet })
}

/** Reads all bills that a filter finds, newest first, page by page. */
export async function readAllBills(
  userId: number,
  wallet: WalletName,
  query: Partial<BillsQuery> = {},
): Promise<Bill[]> {
  const bills: Bill[] = []
  for (let current = 1; ; current += 1) {
    const page = await readPage(userId, wallet, { ...query, current, size: 20 })
    bills.push(...page.records)
    if (current >= page.pages) return bills
  }
}

/** Describes a wallet's version and amounts as plain values, to compare wallets. */
export const describeWallet = ({ version, holdings }: Wallet) => ({
  version,
  holdings: Object.fromEntries(
    [...holdings]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([currency, { balance, hold, deposited, withdrawal }]) => [
        currency,
        [balance, hold, deposited, withdrawal].map((amount) => amount.toFixed()).join(' '),
      ]),
  ),
})

/** Reads a user's asset wallet: for each currency, the text `BALANCE HOLD DEPOSITED WITHDRAWAL`. */
export const holdingsOf = async (userId: number) =>
  describeWallet(await readWallet({ userId, wallet: 'asset' }, { consistent: true })).holdings

/** The USDT balance of a user's asset wallet, as text; undefined if the wallet never had USDT. */
export const balanceOf = async (userId: number): Promise<string | undefined> =>
  (await holdingsOf(userId))['USDT']?.split(' ')[0]

/** A bill to add: its currency, type and instant (epoch milliseconds). */
export interface NewTestBill {
  currency: string
  type: BillType
  at: number
}

/**
 * Writes a wallet and bills of amount 1 directly to the table, which is faster than sending events. Throws if
 * a debit exceeds the balance. If `close` is false, writes no chunk of the bill index.
 */
export async function addBills(
  id: WalletId,
  bills: readonly NewTestBill[],
  { close = true } = {},
): Promise<void> {
  const writes: Write[] = []
  let wallet: Wallet = { ...newWallet(id), version: 1 }
  for (const { currency, type, at } of bills) {
    const posting = { kind: 'post', type, currency, amount: new Big('1'), reference: 'test' } as const
    const applied = applyMovement(wallet, posting, at, at)
    if (applied.rejection !== undefined) throw new Error(applied.rejection)
    if (applied.bill !== undefined) writes.push(putBill(applied.bill))
    wallet = close ? await closeChunk(applied.wallet) : applied.wallet
  }
  await writeAll(writes)
  await writeItem(putWallet(wallet))
}

/**
 * 70 bills, of which only the first and the last are in BTC. The first 64 bills are a chunk of the bill
 * index. So a page of BTC bills needs this chunk and the bills after it.
 */
export const chunkOfBills: readonly NewTestBill[] = Array.from({ length: 70 }, (_, i) => ({
  currency: i % 69 === 0 ? 'BTC' : 'USDT',
  type: 'ADJUSTMENT_CREDIT',
  at: Date.parse('2026-03-01T12:00:00Z') + i * 3_600_000,
}))

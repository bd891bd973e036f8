import { randomInt, randomUUID } from 'node:crypto'
import { writeItem } from '../../shared/db/write.ts'
import { putUser } from '../../shared/users/user.ts'
import { type Bill, type BillsQuery, readBillsPage, readBillsStart } from '../../shared/ledger/bill.ts'
import type { Wallet, WalletName } from '../../shared/ledger/wallet.ts'

/** Adds a user by storing only the item, which is all that the ledger checks. */
export async function addUser(userId = randomInt(1, 2 ** 47)): Promise<number> {
  const write = putUser({
    userId,
    email: `${userId}@example.com`,
    nickname: `user ${userId}`,
    referrerId: undefined,
    registeredAt: Date.now(),
  })
  await writeItem(write)
  return userId
}

/** Builds a `wallet.adjusted` event of 1 USDT into the asset wallet, unless overridden. */
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

/** Reads one page of bills as the endpoint does. */
export async function readPage(userId: number, wallet: WalletName, query: Partial<BillsQuery> = {}) {
  const whole = { current: 1, size: 20, ...query } as BillsQuery
  return readBillsPage(whole, await readBillsStart(whole, userId, wallet))
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

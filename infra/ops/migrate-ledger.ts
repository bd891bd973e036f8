import { setTimeout as wait } from 'node:timers/promises'
import { forEachConcurrently } from '../../shared/for-each-concurrently.ts'
import { dropLists, migrateWallet } from '../../shared/ledger/migrate-wallet.ts'
import type { WalletId } from '../../shared/ledger/wallet.ts'

/** The result of a migration. */
export interface MigrationReport {
  /** Number of wallets that have an index now, and no lists. */
  wallets: number
}

/** Number of wallets that are migrated at the same time. */
const concurrency = 8

/** How long a request may still read the lists of a wallet that has an index now: its timeout, and more. */
const defaultSettleMilliseconds = 60_000

/**
 * Gives every wallet an index of its bills, and then deletes its lists. What is done already is not done
 * again, so an interrupted migration is continued by another one.
 */
export async function migrateLedger(
  ids: readonly WalletId[],
  onProgress: (done: number, text: string) => void,
  settleMilliseconds = defaultSettleMilliseconds,
): Promise<MigrationReport> {
  let steps = 0
  const count = (what: string) => {
    steps += 1
    onProgress(steps, what)
  }
  await forEachConcurrently(ids, concurrency, async (id) => {
    await migrateWallet(id)
    count('indexing bills')
  })
  await forEachConcurrently(ids, concurrency, async (id) => {
    while (!(await dropLists(id, settleMilliseconds))) await wait(settleMilliseconds / 10)
    count('deleting lists')
  })
  return { wallets: ids.length }
}

/** Formats the report of a migration as text. */
export const formatMigration = ({ wallets }: MigrationReport): string =>
  `${wallets} wallets have an index of their bills, and no lists`

import { setTimeout as wait } from 'node:timers/promises'
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
  const forEach = async (work: (id: WalletId) => Promise<void>, what: string) => {
    const queue = ids.values()
    const workOn = async () => {
      for (const id of queue) {
        await work(id)
        steps += 1
        onProgress(steps, what)
      }
    }
    await Promise.all(Array.from({ length: concurrency }, workOn))
  }
  await forEach(migrateWallet, 'indexing bills')
  await forEach(async (id) => {
    while (!(await dropLists(id, settleMilliseconds))) await wait(settleMilliseconds / 10)
  }, 'deleting lists')
  return { wallets: ids.length }
}

/** Formats the report of a migration as text. */
export const formatMigration = ({ wallets }: MigrationReport): string =>
  `${wallets} wallets have an index of their bills, and no lists`

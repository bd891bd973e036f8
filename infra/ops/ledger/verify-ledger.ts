import { readWallet, type WalletId } from '../../../shared/ledger/wallet.ts'
import { listWallets } from '../../../shared/ledger/list-wallets.ts'
import { type Difference, verifyWallet } from '../../../shared/ledger/verify-wallet.ts'
import { formatTable } from '../terminal.ts'

/** What a check of the ledger has looked at and found. */
export interface LedgerReport {
  wallets: number
  bills: number
  differences: Difference[]
}

/** The wallets of a user, or all there are. */
export async function findWallets(userId: number | undefined): Promise<WalletId[]> {
  if (userId === undefined) {
    const all: WalletId[] = []
    for await (const { id } of listWallets()) all.push(id)
    return all
  }
  const both = await Promise.all(
    (['asset', 'reward'] as const).map((wallet) => readWallet({ userId, wallet }, { consistent: true })),
  )
  return both.filter(({ version }) => version > 0).map(({ id }) => id)
}

/** Recomputes wallets from their bills, one after the other, and tells how far it is. */
export async function verifyLedger(
  ids: WalletId[],
  progress: (done: number, words: string) => void,
): Promise<LedgerReport> {
  const report: LedgerReport = { wallets: 0, bills: 0, differences: [] }
  for (const id of ids) {
    const { bills, differences } = await verifyWallet(id)
    report.wallets += 1
    report.bills += bills
    report.differences.push(...differences)
    progress(report.wallets, `${report.wallets} wallets, ${report.bills} bills`)
  }
  return report
}

/** A report for a person. */
export function formatReport({ wallets, bills, differences }: LedgerReport): string {
  const sum = `${wallets} wallets, ${bills} bills, ${differences.length} differences`
  if (differences.length === 0) return sum
  const rows = differences.map(({ userId, wallet, currency, what, expected, actual }) => [
    String(userId),
    wallet,
    currency ?? '-',
    what,
    expected,
    actual,
  ])
  return `${formatTable(['user', 'wallet', 'currency', 'what', 'bills say', 'stored'], rows)}\n${sum}`
}

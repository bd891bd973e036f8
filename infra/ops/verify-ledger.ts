import { listWallets } from '../../shared/ledger/list-wallets.ts'
import { type Difference, verifyWallet } from '../../shared/ledger/verify-wallet.ts'
import { readWallet, type WalletId } from '../../shared/ledger/wallet.ts'
import { formatTable } from './terminal.ts'

/** The result of verifying wallets against their bills. */
export interface LedgerReport {
  wallets: number
  bills: number
  differences: Difference[]
}

/** Finds the wallets of one user, or of all users. */
export async function findWallets(userId: number | undefined): Promise<WalletId[]> {
  if (userId === undefined) {
    const all: WalletId[] = []
    for await (const { id } of listWallets()) all.push(id)
    return all
  }
  const wallets = await Promise.all(
    (['asset', 'reward'] as const).map((wallet) => readWallet({ userId, wallet }, { consistent: true })),
  )
  return wallets.filter(({ version }) => version > 0).map(({ id }) => id)
}

/** Recomputes each wallet from its bills, one after another, and reports progress after each. */
export async function verifyLedger(
  ids: WalletId[],
  onProgress: (done: number, text: string) => void,
): Promise<LedgerReport> {
  const report: LedgerReport = { wallets: 0, bills: 0, differences: [] }
  for (const id of ids) {
    const { bills, differences } = await verifyWallet(id)
    report.wallets += 1
    report.bills += bills
    report.differences.push(...differences)
    onProgress(report.wallets, `${report.wallets} wallets, ${report.bills} bills`)
  }
  return report
}

/** Formats a ledger report as text. */
export function formatReport({ wallets, bills, differences }: LedgerReport): string {
  const summary = `${wallets} wallets, ${bills} bills, ${differences.length} differences`
  if (differences.length === 0) return summary
  const rows = differences.map(({ userId, wallet, currency, what, expected, actual }) => [
    String(userId),
    wallet,
    currency ?? '-',
    what,
    expected,
    actual,
  ])
  return `${formatTable(['USER', 'WALLET', 'CURRENCY', 'WHAT', 'BY ITS BILLS', 'STORED'], rows)}\n${summary}`
}

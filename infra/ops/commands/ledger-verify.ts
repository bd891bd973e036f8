import type { Command } from 'commander'
import { examples } from '../examples.ts'
import { startProgress } from '../progress-bar.ts'
import { readUserId } from '../read-user-id.ts'
import type { Carry } from '../ops.ts'

/** `ledger verify`: recomputes every balance from its bills, without changing anything. */
export const addLedgerVerify = (parent: Command, carry: Carry): Command =>
  parent
    .command('verify')
    .description('Recomputes every balance from its bills; exits 1 with the differences. Reads only.')
    .option('--user <id>', 'only the wallets of this user', readUserId)
    .addHelpText(
      'after',
      examples([
        ['ledger verify', 'all wallets of the local stack'],
        ['--stage prod ledger verify --user 42', 'those of one user'],
        ['--json ledger verify > ledger.json', 'the differences to keep'],
      ]),
    )
    .action(({ user }: { user?: number }) =>
      carry(async ({ show, terminal }) => {
        const { findWallets, formatReport, verifyLedger } = await import('../ledger/verify-ledger.ts')
        const wallets = await findWallets(user)
        const bar = startProgress(terminal, 'verifying', wallets.length)
        try {
          const report = await verifyLedger(wallets, bar.update)
          bar.stop()
          show(report, () => formatReport(report))
          return report.differences.length === 0
        } finally {
          bar.stop()
        }
      }),
    )

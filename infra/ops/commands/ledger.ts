import type { Command } from 'commander'
import { examples, readUserId, type RunCommand } from '../command.ts'
import { startProgress } from '../progress.ts'

/** Adds the command group `ledger`, which verifies wallets against their bills. */
export function addLedgerCommands(program: Command, run: RunCommand): void {
  const ledger = program.command('ledger').description('Verifies wallets and their bills.')
  addVerify(ledger, run)
}

const addVerify = (ledger: Command, run: RunCommand): Command =>
  ledger
    .command('verify')
    .description(
      'Recomputes every wallet from its bills, compares the index of its bills and the events that made them, and exits 1 if something differs. Changes nothing.',
    )
    .option('--user <id>', 'verify only the wallets of this user', readUserId)
    .addHelpText(
      'after',
      examples({
        'ledger verify': 'verifies all wallets of the local stack',
        '--stage prod ledger verify --user 42': 'verifies the wallets of user 42',
        '--json ledger verify > ledger.json': 'saves the differences',
      }),
    )
    .action(({ user }: { user?: number }) =>
      run(async ({ show, terminal }) => {
        const { findWallets, formatReport, verifyLedger } = await import('../verify-ledger.ts')
        const wallets = await findWallets(user)
        const report = await verifyLedger(wallets, startProgress(terminal, 'verifying'))
        show(report, () => formatReport(report))
        return report.differences.length === 0
      }),
    )

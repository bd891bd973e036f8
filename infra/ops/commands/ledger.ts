import type { Command } from 'commander'
import { examples, readInstant, readUserId, type RunCommand } from '../command.ts'
import { startProgress } from '../progress-bar.ts'

const sinceDescription =
  'an instant before the first torn transaction, as 2026-11-22T04:00:00Z: a minute before the restore point'

/** Adds the command group `ledger`, which verifies wallets against their bills, and mends them. */
export function addLedgerCommands(program: Command, run: RunCommand): void {
  const ledger = program.command('ledger').description('Verifies and mends wallets and their bills.')
  addVerify(ledger, run)
  addTorn(ledger, run)
  addMend(ledger, run)
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
      examples([
        ['ledger verify', 'verifies all wallets of the local stack'],
        ['--stage prod ledger verify --user 42', 'verifies the wallets of user 42'],
        ['--json ledger verify > ledger.json', 'saves the differences'],
      ]),
    )
    .action(({ user }: { user?: number }) =>
      run(async ({ show, terminal }) => {
        const { findWallets, formatReport, verifyLedger } = await import('../verify-ledger.ts')
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

const addTorn = (ledger: Command, run: RunCommand): Command =>
  ledger
    .command('torn')
    .description(
      'Finds transactions of which only a part is there, as in a restored table, and exits 1 if there are any. Reads the whole table; changes nothing.',
    )
    .requiredOption('--since <instant>', sinceDescription, readInstant)
    .addHelpText(
      'after',
      examples([['--table RESTORED ledger torn --since 2026-11-22T04:00:00Z', 'checks a restored table']]),
    )
    .action(({ since }: { since: number }) =>
      run(async ({ show }) => {
        const { findChanged } = await import('../mend/find-changed.ts')
        const { findTorn, findUnsound, formatTorn } = await import('../mend/find-torn.ts')
        const found = await findChanged(since)
        const torn = [...findTorn(found, since), ...(await findUnsound(found, since))]
        show({ torn }, () => formatTorn(torn))
        return torn.length === 0
      }),
    )

const addMend = (ledger: Command, run: RunCommand): Command =>
  ledger
    .command('mend')
    .description(
      'Takes money, deposits, purchases and the dashboard back to an instant, lets all events from then on apply again, and repairs users, addresses and referral trees. Reads the whole table; changes nothing without --apply.',
    )
    .requiredOption('--since <instant>', sinceDescription, readInstant)
    .option('--apply', 'make the changes, each with a record of what was there before and after', false)
    .addHelpText(
      'after',
      examples([
        ['--table RESTORED ledger mend --since 2026-11-22T04:00:00Z', 'shows what would change'],
        ['--table RESTORED ledger mend --since 2026-11-22T04:00:00Z --apply', 'changes it'],
      ]),
    )
    .action(({ since, apply }: { since: number; apply: boolean }) =>
      run(async ({ show, terminal }) => {
        const { formatMend, mendLedger } = await import('../mend/mend-ledger.ts')
        const bar = startProgress(terminal, 'mending', 0)
        try {
          const report = await mendLedger(since, apply, bar.update)
          bar.stop()
          show(report, () => formatMend(report))
          return true
        } finally {
          bar.stop()
        }
      }),
    )

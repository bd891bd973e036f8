import type { Command } from 'commander'
import { readUserId, type RunCommand } from '../command.ts'
import { startProgress } from '../progress.ts'

/** Adds the commands that only read: `doctor`, `user show` and `ledger verify`. */
export function addInspectionCommands(program: Command, run: RunCommand): void {
  program
    .command('doctor')
    .description('Checks every part of a deployment, and exits 1 if something is wrong. Changes nothing.')
    .action(() =>
      run(async ({ target, show, terminal }) => {
        const { examine } = await import('../doctor.ts')
        const { reportChecks } = await import('../reports/doctor.ts')
        using progress = startProgress(terminal, 'checking', 'checks')
        const checks = await examine(target, progress.show)
        const report = reportChecks(checks)
        return show({ ok: report.ok, checks }, { report })
      }),
    )
  program
    .command('user')
    .description('Shows users; an event changes one: see `event put`.')
    .command('show')
    .argument('<user>', 'user id or email address')
    .description('Shows a user, without their secrets.')
    .action((reference: string) =>
      run(async ({ show }) => {
        const { describeUser } = await import('../describe-user.ts')
        return show(await describeUser(reference))
      }),
    )
  program
    .command('ledger')
    .description('Verifies wallets and their bills.')
    .command('verify')
    .description(
      'Recomputes every wallet from its bills, compares the index of its bills and the events that made them, and exits 1 if something differs. Changes nothing. Without --user, it reads the whole table.',
    )
    .option('--user <id>', 'verify only the wallets of this user', readUserId)
    .action(({ user }: { user?: number }) =>
      run(async ({ show, terminal }) => {
        const { findWallets, verifyLedger } = await import('../verify-ledger.ts')
        const { checkUserExists } = await import('../describe-user.ts')
        const { reportLedger } = await import('../reports/ledger.ts')
        const found = await verifyLedger(await findWallets(user, terminal), terminal)
        const isEmpty = found.bills === 0 && found.differences.length === 0
        if (user !== undefined && isEmpty) await checkUserExists(user)
        return show(found, { report: reportLedger(found) })
      }),
    )
}

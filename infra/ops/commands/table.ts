import type { Command } from 'commander'
import { examples, type RunCommand } from '../command.ts'
import { UsageError } from '../errors.ts'

/** Adds the command group `table`, which gives a restored table the settings of its stage. */
export function addTableCommands(program: Command, run: RunCommand): void {
  program
    .command('table')
    .description('Checks the settings of the table.')
    .command('settings')
    .description(
      'Compares time to live, point-in-time recovery, deletion protection and tags of the table with those of its stage, and exits 1 if one differs. A restored table lacks all of them.',
    )
    .option('--apply', 'set those that differ', false)
    .addHelpText(
      'after',
      examples([
        ['--stage prod table settings', 'shows what a restored table lacks'],
        ['--stage prod table settings --apply', 'sets it'],
      ]),
    )
    .action(({ apply }: { apply: boolean }) =>
      run(async ({ target, show }) => {
        const { checkTable, formatSettings } = await import('../table-settings.ts')
        if (target.table === undefined)
          throw new UsageError('a local stack has no such settings: name a --stage')
        const settings = await checkTable(target.tableName, target.table, apply)
        show({ settings }, () => formatSettings(settings))
        return apply || settings.every(({ wanted, actual }) => wanted === actual)
      }),
    )
}

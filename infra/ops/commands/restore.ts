import { type Command, InvalidArgumentError } from 'commander'
import { examples, readInstant, type RunCommand } from '../command.ts'

/** Adds the command group `restore`: what a table restored to a full hour needs before and after a replay. */
export function addRestoreCommands(program: Command, run: RunCommand): void {
  const parent = program
    .command('restore')
    .description('Makes a table that was restored to a full hour ready to serve.')
  parent
    .command('prepare')
    .description(
      'Checks that the table is whole, and exits 1 if not. Takes out tokens, codes and free deposit addresses, which may have been ended, used or assigned since. Reads the whole table.',
    )
    .requiredOption('--hour <instant>', 'the hour to which the table was restored', readHour)
    .addHelpText(
      'after',
      examples({
        '--stage prod --table RESTORED restore prepare --hour 2026-11-22T04:00:00Z':
          'before anything reaches the table; repeat it at will',
      }),
    )
    .action(({ hour }: { hour: number }) =>
      run(async ({ show }) => {
        const { formatPreparation, prepareTable } = await import('../restore/prepare-table.ts')
        const preparation = await prepareTable(hour)
        show(preparation, () => formatPreparation(preparation))
        return preparation.late.length === 0
      }),
    )
  parent
    .command('finish')
    .description(
      'Puts every deposit address that is nobody’s into its pool. Refuses while an event waits that may assign one. Reads the whole table.',
    )
    .addHelpText(
      'after',
      examples({ '--stage prod restore finish': 'after `events replay`, which must have left nothing over' }),
    )
    .action(() =>
      run(async ({ target, show }) => {
        const { checkReplayed, freeAddresses } = await import('../restore/free-addresses.ts')
        await checkReplayed(target)
        const freed = await freeAddresses()
        show({ free_addresses: freed }, () => `${freed} addresses are free`)
        return true
      }),
    )
}

function readHour(text: string): number {
  const instant = readInstant(text)
  if (instant % 3_600_000 !== 0) throw new InvalidArgumentError('not a full hour.')
  return instant
}

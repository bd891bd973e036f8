import { type Command, InvalidArgumentError, Option } from 'commander'
import { examples, readInstant, type RunCommand } from '../command.ts'
import { type PartName, partNames } from '../maintenance/parts.ts'

/** Adds the command groups `maintenance`, which stops the service, and `restore`, for a restored table. */
export function addRecoveryCommands(program: Command, run: RunCommand): void {
  const maintenance = program
    .command('maintenance')
    .description('Stops requests (503), events (they wait in their queues) and schedules, and lets them run.')
  const addSwitch = (name: 'on' | 'off', description: string) =>
    maintenance
      .command(name)
      .description(description)
      .addOption(new Option('--only <part>', 'only one part').choices(partNames))
      .action(({ only }: { only?: PartName }) =>
        run(async (context) => {
          const { switchMaintenance } = await import('../maintenance/switch.ts')
          return switchMaintenance(context, name === 'on', only === undefined ? partNames : [only])
        }),
      )
  addSwitch('on', 'Stops the service, and waits until nothing is at work any more.')
  addSwitch('off', 'Lets the service run again, and waits until it does.')
  const restore = program
    .command('restore')
    .description('Makes a table that was restored to a full hour ready to serve.')
  restore
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
      run(async ({ show, terminal }) => {
        const { prepareTable } = await import('../restore/prepare-table.ts')
        const preparation = await prepareTable(hour, terminal)
        return show(preparation, { ok: [...preparation.late, ...preparation.no_wallet].length === 0 })
      }),
    )
  restore
    .command('finish')
    .description(
      'Puts every deposit address that is nobody’s into its pool. Refuses while an event waits that may assign one. Reads the whole table.',
    )
    .action(() =>
      run(async ({ target, show, terminal }) => {
        const { checkReplayed, freeAddresses } = await import('../restore/free-addresses.ts')
        await checkReplayed(target)
        return show({ free_addresses: await freeAddresses(terminal) })
      }),
    )
}

function readHour(text: string): number {
  const hour = readInstant(text)
  if (hour % 3_600_000 !== 0 || hour > Date.now()) throw new InvalidArgumentError('not a past full hour.')
  return hour
}

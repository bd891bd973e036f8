import { type Command, Option } from 'commander'
import { examples, type RunCommand } from '../command.ts'
import { type PartName, partNames } from '../maintenance/parts.ts'

/** Adds the command group `maintenance`, which stops the service and lets it run again. */
export function addMaintenanceCommands(program: Command, run: RunCommand): void {
  const parent = program
    .command('maintenance')
    .description('Stops requests (503), events (they wait in their queues) and schedules, and lets them run.')
  addSwitch(parent, run, 'on', 'Stops the service, and waits until nothing is at work any more.')
  addSwitch(parent, run, 'off', 'Lets the service run again, and waits until it does.')
}

const addSwitch = (parent: Command, run: RunCommand, name: 'on' | 'off', description: string): Command =>
  parent
    .command(name)
    .description(description)
    .addOption(new Option('--only <part>', 'only one part').choices(partNames))
    .addHelpText(
      'after',
      examples({
        [`--stage prod maintenance ${name}`]: 'does so for requests, events and schedules',
        [`maintenance ${name} --only events`]: 'only for events, which wait in their queues while stopped',
      }),
    )
    .action(({ only }: { only?: PartName }) =>
      run(async (context) => {
        const { switchMaintenance } = await import('../maintenance/switch.ts')
        return switchMaintenance(context, name === 'on', only === undefined ? partNames : [only])
      }),
    )

import type { Command } from 'commander'
import { examples, type RunCommand } from '../command.ts'
import { formatTable } from '../terminal.ts'

/** Adds the commands `doctor`, `alarms` and `functions`, which check a deployment as a whole. */
export function addDeploymentCommands(program: Command, run: RunCommand): void {
  addDoctor(program, run)
  addAlarms(program, run)
  addFunctions(program, run)
}

const addDoctor = (parent: Command, run: RunCommand): Command =>
  parent
    .command('doctor')
    .description(
      'Checks the maintenance switch, the API, password digests, the signing keys, functions, rules, queues and SES.',
    )
    .addHelpText(
      'after',
      examples([
        ['doctor', 'checks the local stack'],
        ['--stage prod doctor', 'checks a stage on AWS'],
      ]),
    )
    .action(() =>
      run(async ({ target, show }) => {
        const { examine } = await import('../doctor.ts')
        const checks = await examine(target)
        const ok = checks.every((check) => check.ok)
        show({ ok, checks }, () =>
          checks.map((one) => `${one.ok ? 'ok  ' : 'FAIL'}  ${one.check}: ${one.words}`).join('\n'),
        )
        return ok
      }),
    )

const addAlarms = (parent: Command, run: RunCommand): Command =>
  parent
    .command('alarms')
    .description(
      'Lists the alarms that are raised, with their sections of the runbook; exits 1 if there are any.',
    )
    .addHelpText('after', examples([['--stage prod alarms', 'shows what is raised on a stage on AWS']]))
    .action(() =>
      run(async ({ target, show }) => {
        const { formatAlarms, listRaisedAlarms } = await import('../alarms.ts')
        const alarms = await listRaisedAlarms(target)
        show({ alarms }, () => formatAlarms(alarms))
        return alarms.length === 0
      }),
    )

const addFunctions = (parent: Command, run: RunCommand): Command =>
  parent
    .command('functions')
    .description('Lists every function, its callers and its state; exits 1 if one is not active.')
    .addHelpText('after', examples([['functions', 'shows the names that logs and `aws lambda invoke` need']]))
    .action(() =>
      run(async ({ target, show }) => {
        const { listFunctions } = await import('../functions.ts')
        const functions = await listFunctions(target)
        show({ functions }, () =>
          formatTable(
            ['FUNCTION', 'CALLED BY', 'STATE'],
            functions.map(({ name, called_by: callers, state }) => [name, callers, state]),
          ),
        )
        return functions.every(({ state }) => state === 'Active')
      }),
    )

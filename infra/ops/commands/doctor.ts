import type { Command } from 'commander'
import { examples, type RunCommand } from '../command.ts'

/** Adds the command `doctor`, which checks a deployment as a whole. */
export function addDoctorCommand(program: Command, run: RunCommand): void {
  program
    .command('doctor')
    .description(
      'Checks the maintenance switch, the API, password digests, the signing keys, functions, rules, queues and SES.',
    )
    .addHelpText(
      'after',
      examples({ doctor: 'checks the local stack', '--stage prod doctor': 'checks a stage on AWS' }),
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
}

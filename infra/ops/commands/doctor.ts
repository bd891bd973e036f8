import type { Command } from 'commander'
import { examples } from '../examples.ts'
import type { Carry } from '../ops.ts'

/** `doctor`: whether everything that the service needs answers. */
export const addDoctor = (parent: Command, carry: Carry): Command =>
  parent
    .command('doctor')
    .description('Checks in one go that the API, the keys, the table, the functions and the queues are well.')
    .addHelpText(
      'after',
      examples([
        ['doctor', 'a good first step'],
        ['--stage prod doctor', 'on AWS'],
      ]),
    )
    .action(() =>
      carry(async ({ target, show }) => {
        const { examine } = await import('../doctor/examine.ts')
        const checks = await examine(target)
        show({ ok: checks.every(({ ok }) => ok), checks }, () =>
          checks.map(({ ok, check, words }) => `${ok ? 'well' : 'BAD '}  ${check}: ${words}`).join('\n'),
        )
        return checks.every(({ ok }) => ok)
      }),
    )

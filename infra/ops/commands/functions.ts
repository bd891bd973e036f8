import type { Command } from 'commander'
import { examples } from '../examples.ts'
import type { Carry } from '../ops.ts'
import { formatTable } from '../terminal.ts'

/** `functions`: every function of the deployment, and what calls it. */
export const addFunctions = (parent: Command, carry: Carry): Command =>
  parent
    .command('functions')
    .description('Shows every function, what calls it, and whether it is there.')
    .addHelpText('after', examples([['functions', 'names for logs and `aws lambda invoke`']]))
    .action(() =>
      carry(async ({ target, show }) => {
        const { listFunctions } = await import('../functions/list-functions.ts')
        const functions = await listFunctions(target)
        show({ functions }, () =>
          formatTable(
            ['FUNCTION', 'CALLED BY', 'STATE'],
            functions.map(({ name, called_by: by, state }) => [name, by, state]),
          ),
        )
        return functions.every(({ state }) => state === 'Active')
      }),
    )

import { type Command, InvalidArgumentError } from 'commander'
import { examples, type RunCommand } from '../command.ts'
import type { ImportOptions } from '../import-addresses.ts'

/** Adds the command group `addresses`, for the pools of deposit addresses. */
export function addAddressesCommands(program: Command, run: RunCommand): void {
  const parent = program.command('addresses').description('Fills the pools of deposit addresses.')
  addImport(parent, run)
}

const addImport = (parent: Command, run: RunCommand): Command =>
  parent
    .command('import')
    .argument('<file>', 'one address per line, optionally with a tag after a comma; - for standard input')
    .description(
      'Adds deposit addresses with addresses.provisioned events. Importing a file again adds nothing.',
    )
    .requiredOption('--currency <code>', 'currency of the deposits, for example USDT')
    .requiredOption('--network <code>', 'network of the addresses, for example TRON')
    .requiredOption('--confirmations <number>', 'confirmations that a deposit needs', readConfirmations)
    .addHelpText(
      'after',
      examples({
        'addresses import pool.csv --currency USDT --network TRON --confirmations 19':
          'adds the addresses of a file to the pool of USDT on TRON',
      }),
    )
    .action((file: string, options: ImportOptions) =>
      run(async (context) => {
        const { importAddresses } = await import('../import-addresses.ts')
        return importAddresses(context, file, options)
      }),
    )

function readConfirmations(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('not a whole number.')
  return Number(text)
}

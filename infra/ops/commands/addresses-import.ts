import { type Command, InvalidArgumentError } from 'commander'
import { examples } from '../examples.ts'
import { readCount } from '../read-count.ts'
import type { Carry } from '../ops.ts'
import type { ImportOptions } from '../addresses/import-addresses.ts'

/** `addresses import`: adds deposit addresses to the pool of a currency and network. */
export const addAddressesImport = (parent: Command, carry: Carry): Command =>
  parent
    .command('import')
    .argument(
      '<file>',
      'one address a line, with its tag after a comma where it has one; - for standard input',
    )
    .description('Adds deposit addresses by events addresses.provisioned. The same file again adds nothing.')
    .requiredOption('--currency <code>', 'what is deposited, for example USDT')
    .requiredOption('--network <code>', 'on which network, for example TRON')
    .requiredOption('--confirmations <number>', 'how many a deposit needs', readConfirmations)
    .option('--batch <number>', 'addresses of one event', readCount, 500)
    .addHelpText(
      'after',
      examples([
        ['addresses import pool.csv --currency USDT --network TRON --confirmations 19', 'fills the pool'],
      ]),
    )
    .action((file: string, options: ImportOptions) =>
      carry(async (ops) => {
        const { importAddresses } = await import('../addresses/import-addresses.ts')
        return importAddresses(ops, file, options)
      }),
    )

function readConfirmations(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('not a whole number.')
  return Number(text)
}

import { type Command, InvalidArgumentError } from 'commander'
import { examples } from '../examples.ts'
import type { Carry } from '../ops.ts'
import type { PutOptions } from '../events/put-file.ts'

/** `event put`: sends the events of a file or of standard input, any number of them. */
export const addEventPut = (parent: Command, carry: Carry): Command =>
  parent
    .command('put')
    .argument('<file>', 'NDJSON, one {"detail-type", "detail", "source"?} a line; - for standard input')
    .description(
      'Sends events, waits until they are applied, and lists what was refused and why. Resumes where it stopped.',
    )
    .option('--parallel <number>', 'PutEvents requests at the same time', readParallel, 8)
    .option('--checkpoint <file>', 'where the progress is kept (default: FILE.progress; none for -)')
    .option('--restart', 'forget the progress and start from the first line')
    .option('--no-wait', 'return when the bus has the events')
    .addHelpText(
      'after',
      examples([
        ['event put rewards.ndjson', 'after a kill, the same command goes on where it stopped'],
        ['--stage prod event put - --checkpoint import.progress < export.ndjson', 'from another program'],
      ]),
    )
    .action((file: string, options: PutOptions) =>
      carry(async (ops) => {
        const { putFile } = await import('../events/put-file.ts')
        return putFile(ops, file, options)
      }),
    )

function readParallel(text: string): number {
  const number = Number(text)
  if (!/^\d+$/.test(text) || number < 1 || number > 64) throw new InvalidArgumentError('not 1 to 64.')
  return number
}

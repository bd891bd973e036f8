import { type Command, InvalidArgumentError } from 'commander'
import { examples, type RunCommand } from '../command.ts'
import type { PutOptions } from '../events/put-file.ts'

/** Adds the command group `event`, which sends events to the deployment's bus. */
export function addEventCommands(program: Command, run: RunCommand): void {
  program
    .command('event')
    .description('Sends events, as the systems around the service do.')
    .command('put')
    .argument('<file>', 'NDJSON, one {"detail-type", "detail", "source"?} per line; - for standard input')
    .description(
      'Sends events, waits until they have taken effect, and lists the rejected ones. Resumes an interrupted run.',
    )
    .option('--parallel <number>', 'PutEvents requests at the same time, 1 to 64', readParallel, 8)
    .option('--checkpoint <file>', 'file for the progress (default: FILE.progress; none for -)')
    .option('--restart', 'ignore the saved progress and start from the first line')
    .option('--no-wait', 'return as soon as the bus has accepted the events')
    .addHelpText(
      'after',
      examples([
        ['event put rewards.ndjson', 'after an interruption, the same command resumes where it stopped'],
        [
          '--stage prod event put - --checkpoint import.progress < export.ndjson',
          'reads another program’s output',
        ],
      ]),
    )
    .action((file: string, options: PutOptions) =>
      run(async (context) => {
        const { putFile } = await import('../events/put-file.ts')
        return putFile(context, file, options)
      }),
    )
}

function readParallel(text: string): number {
  const number = Number(text)
  if (!/^\d+$/.test(text) || number < 1 || number > 64) throw new InvalidArgumentError('not 1 to 64.')
  return number
}

import { type Command, InvalidArgumentError } from 'commander'
import { examples, readInstant, type RunCommand } from '../command.ts'
import type { PutOptions } from '../events/put-file.ts'

/** Adds the command group `events`, which sends events to the deployment's bus, new and archived ones. */
export function addEventCommands(program: Command, run: RunCommand): void {
  const parent = program
    .command('events')
    .alias('event')
    .description('Sends events, as the systems around the service do, and replays archived ones.')
  addPut(parent, run)
  addReplay(parent, run)
}

const addPut = (parent: Command, run: RunCommand): Command =>
  parent
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

const addReplay = (parent: Command, run: RunCommand): Command =>
  parent
    .command('replay')
    .description(
      'Sends archived events again, waits until they have taken effect, and lists the rejected ones. Those that the table has already change nothing.',
    )
    .requiredOption('--from <instant>', 'the first instant, for example 2026-11-22T12:00:00Z', readInstant)
    .option('--to <instant>', 'the instant before which the last one was sent (default: now)', readInstant)
    .addHelpText(
      'after',
      examples([
        [
          '--stage prod events replay --from 2026-11-22T12:00:00Z',
          'fills a table that was restored to an hour later; waits ten minutes for the archive first',
        ],
      ]),
    )
    .action(({ from, to = Date.now() }: { from: number; to?: number }) =>
      run(async (context) => {
        const { replayEvents } = await import('../events/replay.ts')
        return replayEvents(context, { from, to })
      }),
    )

function readParallel(text: string): number {
  const number = Number(text)
  if (!/^\d+$/.test(text) || number < 1 || number > 64) throw new InvalidArgumentError('not 1 to 64.')
  return number
}

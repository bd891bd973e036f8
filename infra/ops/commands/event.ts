import type { Command } from 'commander'
import { examples, readInstant, type RunCommand } from '../command.ts'
import { UsageError } from '../errors.ts'

/** Adds the command group `events`, which sends new events and archived events to the deployment's bus. */
export function addEventCommands(program: Command, run: RunCommand): void {
  const parent = program
    .command('events')
    .alias('event')
    .description(
      'Sends events, as the systems around the service do, tells what became of them, and replays archived ones.',
    )
  parent
    .command('put')
    .argument('<file>', 'NDJSON, one {"detail-type", "detail", "source"?} per line; - for standard input')
    .description(
      'Sends events, waits until they have taken effect, and lists the rejected ones; one that lacks money or its user waits a minute for it. May be repeated: an event takes effect once.',
    )
    .action((file: string) =>
      run(async (context) => {
        const { sendLines } = await import('../events/send-lines.ts')
        const result = await sendLines(context, file)
        return context.show(result, { ok: result.applied })
      }),
    )
  parent
    .command('status')
    .argument('<detail-type>', 'for example wallet.adjusted')
    .argument('<key>', "the event's business key: x-business-key in the AsyncAPI document")
    .description('Shows what became of an event, when and why: its effect, and every time it was refused.')
    .addHelpText(
      'after',
      examples({ 'events status wallet.adjusted welcome-1': 'the outcome of the adjustment welcome-1' }),
    )
    .action((detailType: string, key: string) =>
      run(async ({ show }) => {
        const { describeEvent } = await import('../events/event-status.ts')
        return show(await describeEvent(detailType, key))
      }),
    )
  parent
    .command('replay')
    .description(
      'Sends archived events again, waits until they have taken effect, and lists the rejected ones. Those that the table has already change nothing.',
    )
    .requiredOption('--from <instant>', 'the first instant, for example 2026-11-22T12:00:00Z', readInstant)
    .option('--to <instant>', 'the instant before which the last one was sent (default: now)', readInstant)
    .addHelpText(
      'after',
      examples({
        '--stage prod events replay --from 2026-11-22T12:00:00Z':
          'fills a table that was restored to an hour later; waits ten minutes for the archive first',
      }),
    )
    .action(({ from, to = Date.now() }: { from: number; to?: number }) => {
      if (from >= to) throw new UsageError('--from must be before --to, and before now without it')
      return run(async (context) => {
        const { replayEvents } = await import('../events/replay.ts')
        return replayEvents(context, { from, to })
      })
    })
}

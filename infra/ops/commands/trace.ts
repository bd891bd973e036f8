import type { Command } from 'commander'
import { examples, readCount, type RunCommand } from '../command.ts'
import { OperationError, UsageError } from '../errors.ts'
import type { Target } from '../target.ts'
import type { FindLines } from '../trace/log-lines.ts'

/** Adds the command `trace`, which collects the log lines of a request or an event. */
export function addTraceCommand(program: Command, run: RunCommand): void {
  program
    .command('trace')
    .argument('<id>', 'x-request-id of an answer, or id of an event, a message or a run of a function')
    .description('Shows the log lines of an id, and of the events that it caused, over all functions.')
    .option('--hours <number>', 'on a stage: how far back to search, which is what it costs', readCount, 1)
    .addHelpText(
      'after',
      examples({
        'trace KQx1Ei2DoAMEPCg=': 'shows a request on the local stack',
        '--stage prod trace 5f0f6d44-5c1e-4b63-a8f5-3c7f0b2d9c11 --hours 24':
          'shows an event of the last day',
      }),
    )
    .action((id: string, { hours }: { hours: number }) =>
      run(async ({ target, show }) => {
        const { formatTrace, isTraceId, trace } = await import('../trace/trace.ts')
        if (!isTraceId(id))
          throw new UsageError('an id has 8 to 128 letters, digits, and the signs - _ = + /')
        const lines = await trace(await openSearch(target, hours), id)
        show({ lines }, () => (lines.length === 0 ? 'no log line has this id' : formatTrace(lines)))
        return lines.length > 0
      }),
    )
}

async function openSearch({ stage, logFile }: Target, hours: number): Promise<FindLines> {
  if (stage !== 'local') {
    const { searchStageLogs } = await import('../trace/query-logs.ts')
    return searchStageLogs(stage, Date.now() - hours * 3_600_000)
  }
  if (logFile === undefined)
    throw new OperationError('name the local stack by --url: its AWS endpoint has no logs')
  const { searchLocalLog } = await import('../trace/read-local-log.ts')
  return searchLocalLog(logFile)
}

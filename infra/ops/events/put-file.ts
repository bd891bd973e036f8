import { listQueues, openSqs, type QueuePair } from '../dead-letters/queues.ts'
import { startProgress } from '../progress-bar.ts'
import type { Ops } from '../ops.ts'
import { formatTable, type Terminal } from '../terminal.ts'
import { awaitDrained } from './await-drained.ts'
import { openCheckpoint, type Progress } from './checkpoint.ts'
import { openInput } from './input.ts'
import { listRefused, type RefusedEvent } from './list-refused.ts'
import { openBus } from './put-events.ts'
import { newProgress, sendInput } from './send-input.ts'

/** How `event put` was called. */
export interface PutOptions {
  parallel: number
  checkpoint?: string
  restart?: true
  wait: boolean
}

/** What became of an input. */
interface PutResult {
  lines: number
  sent: number
  /** Line after which this run went on with an earlier one; 0 for a fresh start. */
  resumed_after: number
  /** Whether everything that was sent has been applied or refused; null where that was not waited for. */
  applied: boolean | null
  refused_count: number
  /** The first of them, by line. */
  refused: RefusedEvent[]
}

/** A queue whose messages do not get fewer for so long is not waited for any longer; longer than early events are retried for. */
const patienceMilliseconds = 90_000

/** Sends an input from where its checkpoint stands, waits for its effect, and shows what was refused; false where anything was. */
export async function putFile(
  { target, terminal, show }: Ops,
  file: string,
  options: PutOptions,
): Promise<boolean> {
  const checkpointFile = options.checkpoint ?? (file === '-' ? undefined : `${file}.progress`)
  const checkpoint = openCheckpoint(checkpointFile)
  if (options.restart) checkpoint.remove()
  const progress = checkpoint.read() ?? newProgress()
  const resumedAfter = progress.lines
  const pairs = new Map(listQueues(target).map((pair) => [pair.name, pair]))
  await send(terminal, file, { ...options, checkpoint, progress, pairs })
  const touched = Object.keys(progress.types).flatMap((type) => pairs.get(type.replaceAll('.', '-')) ?? [])
  const outcome = options.wait ? await settle(terminal, touched, progress) : undefined
  // A run that has not seen the end of it may be called again, and then waits on.
  if (outcome?.applied !== false) checkpoint.remove()
  const refused = [
    ...progress.refusals.map(({ line, reason }) => ({ line, detail_type: null, reason })),
    ...(outcome?.refused ?? []),
  ]
  const result: PutResult = {
    lines: progress.lines,
    sent: progress.sent,
    resumed_after: resumedAfter,
    applied: outcome?.applied ?? null,
    refused_count: progress.refused + (outcome?.refused.length ?? 0),
    refused: refused.sort((a, b) => a.line - b.line),
  }
  show(result, () => describe(result))
  return result.refused_count === 0 && result.applied !== false
}

async function send(
  terminal: Terminal,
  file: string,
  work: Pick<PutOptions, 'parallel'> & {
    checkpoint: ReturnType<typeof openCheckpoint>
    progress: Progress
    pairs: Map<string, QueuePair>
  },
): Promise<void> {
  const { progress, pairs } = work
  const input = openInput(file, terminal)
  if (progress.lines > 0) terminal.err(`going on after line ${progress.lines}`)
  const bar = startProgress(terminal, 'sending ', input.size ?? 0)
  const bus = openBus()
  try {
    await sendInput({
      ...work,
      lines: input.lines(progress),
      bus,
      isKnown: async (detailType) => pairs.has(detailType.replaceAll('.', '-')),
      onProgress: ({ bytes, sent }) => bar.update(bytes, `${sent} events`),
    })
  } catch (error) {
    terminal.err(`stopped after line ${progress.lines}; the same command goes on from there`)
    throw error
  } finally {
    bar.stop()
    bus.close()
  }
}

async function settle(terminal: Terminal, touched: QueuePair[], progress: Progress) {
  const sqs = openSqs()
  const bar = startProgress(terminal, 'applying', progress.sent)
  try {
    const applied = await awaitDrained(
      sqs,
      touched.map(({ queue }) => queue),
      patienceMilliseconds,
      (count) => bar.update(Math.max(0, progress.sent - count), `${count} waiting`),
    )
    return { applied, refused: await listRefused(sqs, touched, progress.run) }
  } finally {
    bar.stop()
    sqs.destroy()
  }
}

function describe({ lines, sent, refused, refused_count: count, applied }: PutResult): string {
  const tail = {
    true: 'All have been applied or refused.',
    false: 'Some are still being retried.',
    null: 'They are being applied.',
  }
  const table = formatTable(
    ['LINE', 'EVENT', 'REASON'],
    refused.map(({ line, detail_type: type, reason }) => [String(line), type ?? '-', reason]),
  )
  return [
    `${sent} events of ${lines} lines sent. ${tail[`${applied}`]}`,
    ...(count === 0
      ? []
      : [`${count} refused${count > refused.length ? `, the first ${refused.length}` : ''}:`, table]),
  ].join('\n')
}

import { eventName } from '../../names.ts'
import type { CommandContext } from '../command.ts'
import { listQueues, openSqs, type QueuePair } from '../dead-letters/queues.ts'
import { startProgress } from '../progress-bar.ts'
import { formatTable, type Terminal } from '../terminal.ts'
import { type Checkpoint, newProgress, openCheckpoint, type Progress } from './checkpoint.ts'
import { openBus } from './event-bus.ts'
import { findObstacle } from './find-obstacle.ts'
import { openInput } from './input.ts'
import { awaitEmptyQueues, listRejected, type RejectedLine } from './outcome.ts'
import { sendInput } from './send-input.ts'

/** Options of the command `event put`. */
export interface PutOptions {
  parallel: number
  checkpoint?: string
  restart?: true
  wait: boolean
}

/** The JSON result of the command `event put`. */
interface PutResult {
  lines: number
  sent: number
  /** Line after which this run resumed an earlier run; 0 for a new run. */
  resumed_after: number
  /** Whether every event has been applied or rejected; null with `--no-wait`. */
  applied: boolean | null
  refused_count: number
  /**
   * The rejected input lines: at most 1,000 that could not be sent, and 1,000 per queue that a function
   * rejected.
   */
  refused: RejectedLine[]
}

/**
 * Sends an input from its checkpoint on, waits until the events are applied, and shows rejected ones.
 * Resolves with false if any was rejected.
 */
export async function putFile(
  { target, terminal, show }: CommandContext,
  file: string,
  options: PutOptions,
): Promise<boolean> {
  const checkpoint = openCheckpoint(options.checkpoint ?? (file === '-' ? undefined : `${file}.progress`))
  if (options.restart) checkpoint.remove()
  const progress = checkpoint.read() ?? newProgress()
  const resumedAfter = progress.lines
  const queues = new Map(listQueues(target).map((pair) => [pair.name, pair]))
  const sending = { stage: target.stage, concurrency: options.parallel, checkpoint, progress }
  await send(terminal, file, sending)
  const touched = Object.keys(progress.types).flatMap((type) => queues.get(eventName(type)) ?? [])
  const outcome = options.wait ? await awaitOutcome(terminal, touched, progress) : undefined
  // Keeps the checkpoint if the wait timed out, so that the same command waits again.
  if (outcome?.applied !== false) checkpoint.remove()
  const refused = [
    ...progress.refusals.map(({ line, reason }) => ({ line, detail_type: null, reason })),
    ...(outcome?.rejected ?? []),
  ]
  const result: PutResult = {
    lines: progress.lines,
    sent: progress.sent,
    resumed_after: resumedAfter,
    applied: outcome?.applied ?? null,
    refused_count: progress.refused + (outcome?.rejected.length ?? 0),
    refused: refused.sort((a, b) => a.line - b.line),
  }
  show(result, () => describe(result))
  return result.refused_count === 0 && result.applied !== false
}

interface Sending {
  concurrency: number
  checkpoint: Checkpoint
  progress: Progress
  stage: string
}

async function send(terminal: Terminal, file: string, { stage, ...sending }: Sending): Promise<void> {
  const { progress } = sending
  const input = openInput(file, terminal)
  if (progress.lines > 0) terminal.err(`resuming after line ${progress.lines}`)
  const bar = startProgress(terminal, 'sending ', input.size ?? 0)
  const bus = openBus()
  try {
    await sendInput({
      ...sending,
      lines: input.lines(progress),
      bus,
      findObstacle: (event) => findObstacle(stage, event),
      onProgress: ({ bytes, sent }) => bar.update(bytes, `${sent} events`),
    })
  } catch (error) {
    terminal.err(`stopped after line ${progress.lines}; the same command resumes there`)
    throw error
  } finally {
    bar.stop()
    bus.close()
  }
}

async function awaitOutcome(terminal: Terminal, touched: QueuePair[], progress: Progress) {
  const sqs = openSqs()
  const bar = startProgress(terminal, 'applying', progress.sent)
  try {
    const applied = await awaitEmptyQueues(
      sqs,
      touched.flatMap(({ queue }) => queue ?? []),
      (count) => bar.update(Math.max(0, progress.sent - count), `${count} waiting`),
    )
    return { applied, rejected: await listRejected(sqs, touched, progress.run) }
  } finally {
    bar.stop()
    sqs.destroy()
  }
}

const statusTexts = {
  true: 'All of them have been applied or rejected.',
  false: 'Some of them are still being retried.',
  null: 'They are being applied.',
}

function describe({ lines, sent, refused, refused_count: count, applied }: PutResult): string {
  const table = formatTable(
    ['LINE', 'EVENT', 'REASON'],
    refused.map(({ line, detail_type: type, reason }) => [String(line), type ?? '-', reason]),
  )
  return [
    `${sent} events of ${lines} lines sent. ${statusTexts[`${applied}`]}`,
    ...(count === 0
      ? []
      : [`${count} rejected${count > refused.length ? `, the first ${refused.length}` : ''}:`, table]),
  ].join('\n')
}

import { createHash, randomUUID } from 'node:crypto'
import type { Checkpoint, Progress } from './checkpoint.ts'
import { type Batch, lineOfMark, makeBatches } from './make-batches.ts'
import type { Bus } from './put-events.ts'
import type { Line } from './read-lines.ts'

/** What sending needs. */
export interface SendOptions {
  lines: AsyncIterable<Line>
  bus: Pick<Bus, 'put'>
  /** Whether some function takes events of this type. */
  isKnown: (detailType: string) => Promise<boolean>
  /** Raised as the input is sent. */
  progress: Progress
  checkpoint: Checkpoint
  /** PutEvents requests at the same time. */
  parallel: number
  /** Called whenever the progress has been raised. */
  onProgress: (progress: Progress) => void
}

/** Refused lines that are kept for the list. */
const mostRefusals = 1_000
const checkpointMilliseconds = 500

/** The progress of an input of which nothing has been sent. */
export const newProgress = (): Progress => ({
  run: randomUUID(),
  first_line: null,
  lines: 0,
  bytes: 0,
  sent: 0,
  types: {},
  refused: 0,
  refusals: [],
})

/** Digest of a line, by which an input is known again. */
export const digestLine = (text: string): string => createHash('sha256').update(text).digest('base64url')

/**
 * Sends every line as an event, some requests at a time, and raises the progress in the order of the lines. What is in
 * memory does not grow with the input. Events sent after the last checkpoint of a run that died are sent again, and each
 * takes effect once, by its business key.
 */
export async function sendInput(options: SendOptions): Promise<void> {
  const { lines, bus, progress, parallel } = options
  const running: Promise<Batch>[] = []
  const keeper = keepProgress(options)
  for await (const batch of makeBatches(lines, progress.run, options.isKnown)) {
    const sent = sendBatch(bus, batch, progress.run)
    // Awaited below in its turn; a failure before that must not end the process by itself.
    sent.catch(() => undefined)
    running.push(sent)
    if (running.length >= parallel) keeper.raise(await running.shift())
  }
  for (const sent of running) keeper.raise(await sent)
  keeper.flush()
}

async function sendBatch(bus: SendOptions['bus'], batch: Batch, run: string): Promise<Batch> {
  if (batch.events.length === 0) return batch
  const problems = await bus.put(batch.events)
  const refused = batch.events.flatMap(({ mark }, index) => {
    const problem = problems[index]
    return problem === undefined
      ? []
      : [{ line: lineOfMark(run, mark) ?? 0, reason: `the bus refused it: ${problem}` }]
  })
  return {
    ...batch,
    events: batch.events.filter((_, index) => problems[index] === undefined),
    refusals: [...batch.refusals, ...refused],
  }
}

function keepProgress({ progress, checkpoint, onProgress }: SendOptions) {
  let writtenAt = Date.now()
  const flush = () => {
    checkpoint.write(progress)
    writtenAt = Date.now()
  }
  return {
    flush,
    raise(batch: Batch | undefined) {
      if (batch?.last === undefined) return
      progress.lines = batch.last.number
      progress.bytes = batch.last.end
      progress.sent += batch.events.length
      for (const { detailType } of batch.events)
        progress.types[detailType] = (progress.types[detailType] ?? 0) + 1
      progress.refused += batch.refusals.length
      progress.refusals.push(...batch.refusals.slice(0, mostRefusals - progress.refusals.length))
      onProgress(progress)
      if (Date.now() - writtenAt >= checkpointMilliseconds) flush()
    },
  }
}

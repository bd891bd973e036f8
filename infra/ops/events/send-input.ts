import { type Batch, type FindObstacle, lineOfMark, makeBatches } from './batches.ts'
import type { Checkpoint, Progress } from './checkpoint.ts'
import type { EventBus } from './event-bus.ts'
import type { Line } from './input.ts'

/** The input to send, and where to record the progress. */
export interface SendOptions {
  lines: AsyncIterable<Line>
  bus: Pick<EventBus, 'put'>
  /** Says why the bus would not take an event; undefined if it does. */
  findObstacle: FindObstacle
  /** Progress of the input; updated while it is sent. */
  progress: Progress
  checkpoint: Checkpoint
  /** Maximum number of PutEvents requests at the same time. */
  concurrency: number
  /** Called after every update of `progress`. */
  onProgress: (progress: Progress) => void
}

/** Maximum number of unsendable lines to keep with their reasons; further ones are only counted. */
const maxRefusals = 1_000
const checkpointIntervalMilliseconds = 500

/**
 * Sends every input line as an event, several requests at a time, and updates the progress in the order of
 * the lines. Memory use does not depend on the input's size. A resumed run sends the events since the last
 * checkpoint again; their business keys make them take effect once.
 */
export async function sendInput(options: SendOptions): Promise<void> {
  const { lines, bus, progress, concurrency } = options
  const running: Promise<Batch>[] = []
  const recorder = recordProgress(options)
  for await (const batch of makeBatches(lines, progress.run, options.findObstacle)) {
    const sent = sendBatch(bus, batch, progress.run)
    // Marks a rejection as handled: the promise is awaited only later, and an unhandled rejection would end
    // the process.
    sent.catch(() => undefined)
    running.push(sent)
    if (running.length >= concurrency) recorder.add(await running.shift())
  }
  for (const sent of running) recorder.add(await sent)
  recorder.save()
}

async function sendBatch(bus: SendOptions['bus'], batch: Batch, run: string): Promise<Batch> {
  if (batch.events.length === 0) return batch
  const errorCodes = await bus.put(batch.events)
  const refused = batch.events.flatMap(({ mark }, index) => {
    const code = errorCodes[index]
    return code === undefined
      ? []
      : [{ line: lineOfMark(run, mark) ?? 0, reason: `the bus refused it: ${code}` }]
  })
  return {
    ...batch,
    events: batch.events.filter((_, index) => errorCodes[index] === undefined),
    refusals: [...batch.refusals, ...refused],
  }
}

function recordProgress({ progress, checkpoint, onProgress }: SendOptions) {
  let savedAt = Date.now()
  const save = () => {
    checkpoint.write(progress)
    savedAt = Date.now()
  }
  return {
    save,
    add(batch: Batch | undefined) {
      if (batch?.last === undefined) return
      progress.lines = batch.last.number
      progress.bytes = batch.last.end
      progress.sent += batch.events.length
      for (const { detailType } of batch.events)
        progress.types[detailType] = (progress.types[detailType] ?? 0) + 1
      progress.refused += batch.refusals.length
      progress.refusals.push(...batch.refusals.slice(0, maxRefusals - progress.refusals.length))
      onProgress(progress)
      if (Date.now() - savedAt >= checkpointIntervalMilliseconds) save()
    },
  }
}

import { parseEvent } from './parse-event.ts'
import { type MarkedEvent, mostBytes, mostEntries } from './put-events.ts'
import type { Line } from './read-lines.ts'

/** Lines of the input that are sent, or refused, together. */
export interface Batch {
  events: MarkedEvent[]
  bytes: number
  refusals: { line: number; reason: string }[]
  /** The last line, up to which all is done when this batch and those before it are. */
  last: Line | undefined
}

/** Room for what an event's envelope adds to its detail, in bytes. */
const envelopeBytes = 1_024
const mostLines = 1_000

/** The mark of an event: which input it came from, and on which line it stood. */
export const markOf = (run: string, line: number): string => `urn:event-put:${run}:${line}`

/** The line that a mark names, or undefined where it is of another input. */
export function lineOfMark(run: string, mark: string): number | undefined {
  const prefix = markOf(run, 0).slice(0, -1)
  return mark.startsWith(prefix) ? Number(mark.slice(prefix.length)) : undefined
}

/** Puts the lines together to requests that the bus takes; `isKnown` tells whether some function takes a type. */
export async function* makeBatches(
  lines: AsyncIterable<Line>,
  run: string,
  isKnown: (detailType: string) => Promise<boolean>,
): AsyncGenerator<Batch> {
  let batch = emptyBatch()
  let count = 0
  for await (const line of lines) {
    const read = await readEvent(line.text, isKnown)
    const size = read.event === undefined ? 0 : Buffer.byteLength(read.event.detail) + envelopeBytes
    if (batch.bytes + size > mostBytes && batch.events.length > 0) {
      yield batch
      batch = emptyBatch()
      count = 0
    }
    if (read.event !== undefined) batch.events.push({ ...read.event, mark: markOf(run, line.number) })
    if (read.reason !== undefined) batch.refusals.push({ line: line.number, reason: read.reason })
    batch.bytes += size
    batch.last = line
    count += 1
    if (batch.events.length === mostEntries || count === mostLines) {
      yield batch
      batch = emptyBatch()
      count = 0
    }
  }
  if (batch.last !== undefined) yield batch
}

const emptyBatch = (): Batch => ({ events: [], bytes: 0, refusals: [], last: undefined })

async function readEvent(text: string, isKnown: (detailType: string) => Promise<boolean>) {
  try {
    const event = parseEvent(text)
    if (event === undefined || (await isKnown(event.detailType))) return { event, reason: undefined }
    return { event: undefined, reason: 'no function takes events of this detail-type' }
  } catch (error) {
    return { event: undefined, reason: error instanceof Error ? error.message : String(error) }
  }
}

import * as v from 'valibot'
import type { Line } from './input.ts'

/** An event to send. */
export interface OutgoingEvent {
  detailType: string
  source: string
  /** JSON text. */
  detail: string
  /** Identifies the run and the line of the event; found again in its dead letter. */
  mark: string
}

/** Maximum number of events in one PutEvents request (EventBridge quota). */
export const maxBatchEntries = 10
/** Maximum size of one PutEvents request: below the 256 KB that EventBridge accepts. */
const maxBatchBytes = 240_000
/** Maximum size of a detail: EventBridge's 256 KiB for an event, less room for the envelope. */
const maxDetailBytes = 261_120
/** Room in a batch for the envelope of one event. */
const envelopeBytes = 1_024
/** A batch ends after this many lines even if it has few events, so that progress is saved regularly. */
const maxBatchLines = 1_000

/** Lines of an input whose events are sent in one request. */
export interface Batch {
  events: OutgoingEvent[]
  bytes: number
  lineCount: number
  /** Lines that cannot be sent. */
  refusals: { line: number; reason: string }[]
  /** The last line of the batch. */
  last: Line | undefined
}

/** Sender of events that name no `source`. */
export const defaultSource = 'operator'

/** The mark of an event: the run that sends it and its line. */
export const markOf = (run: string, line: number): string => `urn:event-put:${run}:${line}`

/** The line that a mark names, or undefined for a mark of another run. */
export function lineOfMark(run: string, mark: string): number | undefined {
  const prefix = markOf(run, 0).slice(0, -1)
  return mark.startsWith(prefix) ? Number(mark.slice(prefix.length)) : undefined
}

/** Groups lines into batches of one request. `isKnown` says whether a function handles a detail-type. */
export async function* makeBatches(
  lines: AsyncIterable<Line>,
  run: string,
  isKnown: (detailType: string) => Promise<boolean>,
): AsyncGenerator<Batch> {
  let batch = emptyBatch()
  for await (const line of lines) {
    const { event, reason } = await readEvent(line, run, isKnown)
    const size = event === undefined ? 0 : Buffer.byteLength(event.detail) + envelopeBytes
    if (batch.bytes + size > maxBatchBytes && batch.events.length > 0) {
      yield batch
      batch = emptyBatch()
    }
    if (event !== undefined) batch.events.push(event)
    if (reason !== undefined) batch.refusals.push({ line: line.number, reason })
    batch.bytes += size
    batch.lineCount += 1
    batch.last = line
    if (batch.events.length === maxBatchEntries || batch.lineCount === maxBatchLines) {
      yield batch
      batch = emptyBatch()
    }
  }
  if (batch.last !== undefined) yield batch
}

const emptyBatch = (): Batch => ({ events: [], bytes: 0, lineCount: 0, refusals: [], last: undefined })

async function readEvent(
  { text, number }: Line,
  run: string,
  isKnown: (detailType: string) => Promise<boolean>,
): Promise<{ event?: OutgoingEvent | undefined; reason?: string }> {
  try {
    const event = parseEvent(text, markOf(run, number))
    if (event === undefined || (await isKnown(event.detailType))) return { event }
    return { reason: 'no function takes events of this detail-type' }
  } catch (error) {
    return { reason: error instanceof Error ? error.message : String(error) }
  }
}

const EventLine = v.object({
  'detail-type': v.pipe(v.string(), v.regex(/^[a-z]+(\.[a-z]+)+$/)),
  source: v.optional(v.pipe(v.string(), v.minLength(1))),
  detail: v.looseObject({}),
})

/** Parses a line; undefined for an empty one. Throws an Error without the line, which may contain secrets. */
function parseEvent(text: string, mark: string): OutgoingEvent | undefined {
  if (text.trim() === '') return undefined
  const parsed = v.safeParse(EventLine, parseJson(text))
  if (!parsed.success) {
    const field = v.getDotPath(parsed.issues[0])
    throw new Error(field === null ? 'not a JSON object' : `${field} is missing or not valid`)
  }
  const { 'detail-type': detailType, source = defaultSource, detail } = parsed.output
  const event = { detailType, source, detail: JSON.stringify(detail), mark }
  if (Buffer.byteLength(event.detail) > maxDetailBytes) throw new Error('larger than the bus accepts')
  return event
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's own message would quote the line.
    throw new Error('not JSON')
  }
}

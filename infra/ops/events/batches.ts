import * as v from 'valibot'
import type { Line } from './input.ts'

/** An event to put on the bus. */
export interface OutgoingEvent {
  detailType: string
  source: string
  /** Detail of the event, JSON text. */
  detail: string
  /**
   * Identifies the event by its run and line. Its dead letter contains the mark, so a rejected line can be
   * found.
   */
  mark: string
}

/** Maximum number of events in one PutEvents request (EventBridge quota). */
export const maxBatchEntries = 10
/** Maximum size of one PutEvents request in bytes, below the 256 KB that EventBridge accepts. */
const maxBatchBytes = 240_000
/**
 * Maximum size of an event detail in bytes: EventBridge's limit of 256 KiB per event, less room for the
 * envelope.
 */
const maxDetailBytes = 261_120
/** Bytes reserved in a batch for the envelope of each event. */
const envelopeBytes = 1_024
/**
 * Maximum number of lines in a batch, even if few of them are events, so that progress is saved regularly.
 */
const maxBatchLines = 1_000

/** A batch of input lines whose events are sent in one request. */
export interface Batch {
  events: OutgoingEvent[]
  bytes: number
  lineCount: number
  /** Input lines that cannot be sent as events, with the reasons. */
  refusals: { line: number; reason: string }[]
  /** Last input line of the batch. */
  last: Line | undefined
}

/** Default `source` of events in an input. */
export const defaultSource = 'operator'

/** Makes the mark of an event from its run and line. */
export const markOf = (run: string, line: number): string => `urn:event-put:${run}:${line}`

/** Returns the line that a mark names, or undefined for a mark of another run. */
export function lineOfMark(run: string, mark: string): number | undefined {
  const prefix = markOf(run, 0).slice(0, -1)
  return mark.startsWith(prefix) ? Number(mark.slice(prefix.length)) : undefined
}

/** Says why the bus would not take an event; undefined if it does. */
export type FindObstacle = (event: OutgoingEvent) => string | undefined

/** Groups input lines into batches of one PutEvents request. */
export async function* makeBatches(
  lines: AsyncIterable<Line>,
  run: string,
  findObstacle: FindObstacle,
): AsyncGenerator<Batch> {
  let batch = emptyBatch()
  for await (const line of lines) {
    const { event, reason } = readEvent(line, run, findObstacle)
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

function readEvent(
  { text, number }: Line,
  run: string,
  findObstacle: FindObstacle,
): { event?: OutgoingEvent | undefined; reason?: string } {
  try {
    const event = parseEvent(text, markOf(run, number))
    const reason = event && findObstacle(event)
    return reason === undefined ? { event } : { reason }
  } catch (error) {
    return { reason: error instanceof Error ? error.message : String(error) }
  }
}

const EventLine = v.object({
  'detail-type': v.pipe(v.string(), v.regex(/^[a-z]+(\.[a-z]+)+$/)),
  source: v.optional(v.pipe(v.string(), v.minLength(1))),
  detail: v.looseObject({}),
})

/**
 * Parses an input line into an event; undefined for an empty line. The Error it throws never quotes the line,
 * which may contain secrets.
 */
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
    // Replaces the JSON parser's error, whose message would quote the line.
    throw new Error('not JSON')
  }
}

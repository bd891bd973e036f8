import * as v from 'valibot'

/** An event to send. */
export interface OutgoingEvent {
  detailType: string
  source: string
  /** JSON text. */
  detail: string
}

const Written = v.object({
  'detail-type': v.pipe(v.string(), v.regex(/^[a-z]+(\.[a-z]+)+$/)),
  source: v.optional(v.pipe(v.string(), v.minLength(1))),
  detail: v.looseObject({}),
})

/** Sender of events that do not name theirs. */
export const defaultSource = 'operator'

/** Most bytes of a detail: EventBridge takes 256 KiB, of which the envelope needs its part. */
const largestDetail = 261_120

/** Reads one line as an event; undefined for an empty line. Throws an Error that says what is wrong, without quoting the line. */
export function parseEvent(text: string): OutgoingEvent | undefined {
  if (text.trim() === '') return undefined
  const parsed = v.safeParse(Written, parseJson(text))
  if (!parsed.success) {
    const field = v.getDotPath(parsed.issues[0])
    throw new Error(field === null ? 'not a JSON object' : `${field} is missing or not what it must be`)
  }
  const { 'detail-type': detailType, source = defaultSource, detail } = parsed.output
  const event = { detailType, source, detail: JSON.stringify(detail) }
  if (Buffer.byteLength(event.detail) > largestDetail) throw new Error('larger than the bus takes')
  return event
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's own words would quote the line.
    throw new Error('not JSON')
  }
}

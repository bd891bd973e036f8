import * as v from 'valibot'
import { isObject } from '../../../shared/is-object.ts'
import { acceptedSources } from '../../event-patterns.ts'
import { events } from '../../events.ts'

/** An event to put on the bus. */
export interface OutgoingEvent {
  detailType: string
  source: string
  detail: string
}

/** The `source` of events that an operator sends. */
export const defaultSource = 'operator'

/** Maximum size of an event's detail in bytes: EventBridge's 256 KiB minus 1 KiB for the envelope. */
const maxDetailBytes = 261_120

/** Takes every member, unlike v.looseObject, which leaves out such as `constructor`. */
const JsonObject = v.custom<object>(isObject)

const EventLine = v.object({
  'detail-type': v.pipe(v.string(), v.regex(/^[a-z]+(\.[a-z]+)+$/)),
  source: v.optional(v.pipe(v.string(), v.minLength(1)), defaultSource),
  detail: JsonObject,
})

/**
 * Reads an input line as an event, or returns the reason why the bus of a stage would not take it. The reason
 * never quotes the line, which may contain secrets.
 */
export function readEvent(stage: string, line: string): OutgoingEvent | string {
  // Windows' editors and shells begin a file with a byte order mark.
  const json = v.safeParse(v.pipe(v.string(), v.parseJson()), line.replace(/^\uFEFF/, ''))
  if (!json.success) return 'not JSON'
  const parsed = v.safeParse(EventLine, json.output)
  if (!parsed.success) {
    const field = v.getDotPath(parsed.issues[0])
    return field === null ? 'not a JSON object' : `${field} is missing or not valid`
  }
  const { 'detail-type': detailType, source, detail } = parsed.output
  const event = { detailType, source, detail: JSON.stringify(detail) }
  if (Buffer.byteLength(event.detail) > maxDetailBytes) return 'larger than the bus accepts'
  return findObstacle(stage, event) ?? event
}

/** Returns why the bus of a stage would not take an event; undefined if it would. */
function findObstacle(stage: string, { detailType, source }: OutgoingEvent): string | undefined {
  const row = events.find((one) => one.detailType === detailType)
  if (row === undefined) return 'no function takes events of this detail-type'
  const sources = acceptedSources(stage, row)
  if (sources === undefined || sources.includes(source)) return undefined
  return `the bus takes it only with the source ${sources.join(' or ')}`
}

import { inOneLine } from '../terminal.ts'
import type { FindLines, LogLine } from './log-lines.ts'

/** An id that functions log: of a request, an event on the bus, a queue's message or a function's run. */
export const isTraceId = (text: string): boolean => /^[\w=+/-]{8,128}$/.test(text)

/** How many steps from a cause to its effect are followed: a request puts an event, which may put another. */
const maxSteps = 3

/** Message of the line that names an event which a function has put on the bus: see publish-event.ts. */
const published = 'event published'

/**
 * Collects the log lines of an id over all functions, and those of the events that they put on the bus, in
 * the order of time.
 */
export async function trace(find: FindLines, id: string): Promise<LogLine[]> {
  const lines: LogLine[] = []
  const known = new Set<string>()
  let ids = [id]
  for (let step = 0; step < maxSteps && ids.length > 0; step += 1) {
    for (const one of ids) known.add(one)
    const found = await find(ids)
    lines.push(...found)
    ids = [...new Set(found.flatMap(eventsPutBy))].filter((one) => !known.has(one))
  }
  const unique = new Map(lines.map((line) => [JSON.stringify(line), line]))
  return [...unique.values()].sort((a, b) => a.at - b.at)
}

const eventsPutBy = ({ fields: { message, event_id: eventId } }: LogLine): string[] =>
  message === published && typeof eventId === 'string' && isTraceId(eventId) ? [eventId] : []

/** Fields that the logger adds to every line, or that a formatted line begins with. */
const leadingFields = new Set(['level', 'message', 'service', 'timestamp', 'xray_trace_id', 'sampling_rate'])

/** Formats lines, each with its instant, function, message and fields. */
export const formatTrace = (lines: LogLine[]): string =>
  lines
    .map((line) => inOneLine(`${new Date(line.at).toISOString()} ${line.function} ${describe(line.fields)}`))
    .join('\n')

function describe(fields: LogLine['fields']): string {
  const own = Object.entries(fields).filter(([name]) => !leadingFields.has(name))
  const { level = '', message = '' } = fields
  return [level, message, ...own.map(([name, value]) => `${name}=${JSON.stringify(value)}`)].join(' ').trim()
}

import * as v from 'valibot'

/** A line that a function logged. */
export interface LogLine {
  /** Instant of the line, epoch milliseconds. */
  at: number
  function: string
  /** The line's fields, or its text as `message` if it is not structured. */
  fields: Record<string, unknown>
}

/** Finds the log lines that contain one of these texts. */
export type FindLines = (texts: string[]) => Promise<LogLine[]>

/** Reads a log line of a function: JSON as the logger writes it, or any other text. */
export function readLine(text: string): LogLine['fields'] {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value as LogLine['fields']
  } catch {
    // Lambda's own lines are text.
  }
  return { message: text }
}

const Timestamp = v.object({ timestamp: v.pipe(v.string(), v.isoTimestamp()) })

/** The instant that the logger wrote, which is more exact than that of the log's storage. */
export function instantOf(fields: LogLine['fields'], fallback: number): number {
  const told = v.safeParse(Timestamp, fields)
  return told.success ? Date.parse(told.output.timestamp) : fallback
}

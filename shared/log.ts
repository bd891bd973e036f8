type Fields = Record<string, unknown>

/** Fields that every log line gets until resetKeys is called, for example the id of the current request. */
let common: Fields = {}

/** Writes one line of JSON to stdout directly, because Lambda wraps what goes through `console`. */
const write = (level: string) => (message: string, fields?: Fields) => {
  const line = { level, message, timestamp: new Date().toISOString(), ...common, ...fields }
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

/**
 * The structured log. Log only named fields, never a request, an event, or the message of an error or a
 * validator. These may contain passwords, codes, tokens or secrets.
 */
export const log = {
  info: write('INFO'),
  warn: write('WARN'),
  error: write('ERROR'),
  /** Adds fields to all further log lines of the invocation. */
  appendKeys(fields: Fields): void {
    common = { ...common, ...fields }
  },
  resetKeys(): void {
    common = {}
  },
}

/** The fields of an unknown error that are safe to log: class, status, AWS request id, stack; no message. */
export function errorSummary(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error }
  const aws = error as Error & { $metadata?: { httpStatusCode?: number; requestId?: string } }
  return {
    name: error.name,
    status: aws.$metadata?.httpStatusCode,
    aws_request_id: aws.$metadata?.requestId,
    // Removes the message from the stack trace: a line of the message could look like a stack frame.
    at: error.stack
      ?.replace(error.message, '')
      .split('\n')
      .filter((line) => line.startsWith('    at '))
      .slice(0, 6)
      .map((line) => line.trim()),
    cause: error.cause === undefined ? undefined : errorSummary(error.cause),
  }
}

import { Logger } from '@aws-lambda-powertools/logger'

/**
 * The structured log of a function. Log only named fields, never a request, an event, an error's message or a
 * validator's message: those may contain passwords, codes, tokens or secrets.
 */
export const log = new Logger({ serviceName: process.env['AWS_LAMBDA_FUNCTION_NAME'] ?? 'service' })

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

/** Thrown for a wrong command line; the exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Thrown when a command cannot do its work; the exit code is 1. The operator sees only the message. */
export class OperationError extends Error {
  override readonly name = 'OperationError'
}

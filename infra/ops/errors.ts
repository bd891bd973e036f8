/** The command line is wrong: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The command could not do its work: exit code 1. The message is all that the operator sees. */
export class OperationError extends Error {
  override readonly name = 'OperationError'
}

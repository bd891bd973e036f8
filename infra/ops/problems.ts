/** The command was called in a way that cannot work: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The command could not do what it was asked for: exit code 1. */
export class OperationFailed extends Error {
  override readonly name = 'OperationFailed'
}

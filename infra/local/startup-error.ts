/** Error: the local stack cannot start, for a cause that a person can fix. Its message is one line. */
export class StartupError extends Error {
  override readonly name = 'StartupError'
}

/** Throws a `StartupError`. */
export function refuse(reason: string): never {
  throw new StartupError(reason)
}

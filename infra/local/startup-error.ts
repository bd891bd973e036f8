/** Error: the local stack cannot start, for a cause that a person can fix. Its message is one line. */
export class StartupError extends Error {
  override readonly name = 'StartupError'
}

/** Throws a `StartupError`. It is for places where an expression needs a value, so `throw` is not allowed. */
export function refuse(reason: string): never {
  throw new StartupError(reason)
}

/**
 * Thrown when the local stack cannot start for a reason that a person can fix. Only its one-line message is
 * shown, without a stack trace.
 */
export class StartupError extends Error {
  override readonly name = 'StartupError'
}

/** Throws a `StartupError`. A function, because `throw` cannot be used where an expression needs a value. */
export function refuse(reason: string): never {
  throw new StartupError(reason)
}

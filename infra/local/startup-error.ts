/** The local stack cannot start, and a person can fix the cause. Only its one-line message is shown. */
export class StartupError extends Error {
  override readonly name = 'StartupError'
}

/** Throws a `StartupError`. A function, because `throw` cannot be used where an expression needs a value. */
export function refuse(reason: string): never {
  throw new StartupError(reason)
}

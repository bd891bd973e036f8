/** A reason not to start that a person can act on. Its one clear line is shown without a stack trace. */
export class StartupError extends Error {
  override readonly name = 'StartupError'
}

/** Throws a `StartupError`, where an expression needs a value. */
export function refuse(reason: string): never {
  throw new StartupError(reason)
}

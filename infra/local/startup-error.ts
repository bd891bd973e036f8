/** Error: the local stack cannot start, for a cause that a person can fix. Its message is one line. */
export class StartupError extends Error {
  override readonly name = 'StartupError'
}

/** Throws a `StartupError` inside an expression, where JavaScript does not allow a `throw` statement. */
export function refuse(reason: string): never {
  throw new StartupError(reason)
}

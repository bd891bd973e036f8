/** A reason not to start that a person can act on. Its message is one clear line, shown without a stack trace. */
export class StartupError extends Error {
  override readonly name = 'StartupError'
}

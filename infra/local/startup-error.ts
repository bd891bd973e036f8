/** A reason not to start that a person can act on: its message is one clear line, shown without a stack. */
export class StartupError extends Error {
  override readonly name = 'StartupError'
}

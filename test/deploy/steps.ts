/** Runs the steps of a deployment test one after another, and shows each as one line. */
export class Steps {
  private readonly failures: string[] = []
  private readonly print: (line: string) => void

  constructor(print: (line: string) => void) {
    this.print = print
  }

  get passed(): boolean {
    return this.failures.length === 0
  }

  /**
   * Runs a step and shows how it ended. Resolves with the step's result, or with undefined if the step
   * failed, so that later steps still run.
   */
  async run<T>(name: string, work: () => Promise<T>): Promise<T | undefined> {
    const start = Date.now()
    try {
      const result = await work()
      this.print(`ok    ${name} (${Math.round((Date.now() - start) / 1000)} s)`)
      return result
    } catch (error) {
      this.failures.push(name)
      const reason = error instanceof Error ? error.message : String(error)
      this.print(`FAIL  ${name}\n${reason.replaceAll(/^/gm, '        ')}`)
      return undefined
    }
  }

  /** Shows information that is not the outcome of a step. */
  note(text: string): void {
    this.print(`note  ${text}`)
  }
}

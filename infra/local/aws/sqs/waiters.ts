/** Those who wait for a queue to have something to receive; nobody polls. */
export class Waiters {
  readonly #waiting = new Set<() => void>()
  readonly #hasVisible: () => boolean
  #woken = false

  constructor(hasVisible: () => boolean) {
    this.#hasVisible = hasVisible
  }

  /** Ends when there may be something, after so many milliseconds (at most as long as a timer can), or when the signal aborts. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const finish = () => {
        this.#waiting.delete(finish)
        clearTimeout(timer)
        signal.removeEventListener('abort', finish)
        resolve()
      }
      const timer = setTimeout(finish, Math.min(milliseconds, 2 ** 31 - 1))
      signal.addEventListener('abort', finish)
      this.#waiting.add(finish)
    })
  }

  /**
   * Wakes one after the other for as long as there is something: each takes its fill before the next looks. Runs once after
   * all that is happening now, so that the messages of one batch are received as one batch.
   */
  wake(): void {
    if (this.#woken || this.#waiting.size === 0) return
    this.#woken = true
    setImmediate(() => void this.#wakeInTurn())
  }

  async #wakeInTurn(): Promise<void> {
    this.#woken = false
    const turn = [...this.#waiting]
    for (const finish of turn) {
      if (!this.#hasVisible()) return
      finish()
      // Lets the one just woken take its messages first.
      await new Promise(setImmediate)
    }
  }
}

import type { Terminal } from './terminal.ts'

/** Shows the progress of a command on standard error, by a line every ten seconds. */
export interface ProgressBar {
  update: (done: number, text: string) => void
  stop: () => void
}

const lineIntervalMilliseconds = 10_000

/** Starts to show progress. A `total` of 0 means that the end is not known. */
export function startProgress(terminal: Terminal, title: string, total: number): ProgressBar {
  let shownAt = Date.now()
  return {
    update(done, text) {
      if (Date.now() - shownAt < lineIntervalMilliseconds) return
      shownAt = Date.now()
      const share = total === 0 ? '' : ` ${Math.floor((100 * done) / total)}%`
      terminal.err(`${title}${share} ${text}`)
    },
    stop: () => undefined,
  }
}

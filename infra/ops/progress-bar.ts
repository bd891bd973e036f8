import { Presets, SingleBar } from 'cli-progress'
import type { Terminal } from './terminal.ts'

/**
 * Shows the progress of a command on standard error: a bar in a terminal, otherwise a line every ten seconds.
 */
export interface ProgressBar {
  update: (done: number, text: string) => void
  stop: () => void
}

const lineIntervalMilliseconds = 10_000

/** Starts a progress bar. A `total` of 0 means that the end is not known. */
export function startProgress(terminal: Terminal, title: string, total: number): ProgressBar {
  return terminal.interactive ? startBar(title, total) : startLines(terminal, title, total)
}

function startBar(title: string, total: number): ProgressBar {
  const format = `${title} [{bar}] {percentage}% {text} {duration_formatted}`
  const bar = new SingleBar({ format, stream: process.stderr, hideCursor: true }, Presets.rect)
  bar.start(total, 0, { text: '' })
  return { update: (done, text) => bar.update(done, { text }), stop: () => bar.stop() }
}

function startLines(terminal: Terminal, title: string, total: number): ProgressBar {
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

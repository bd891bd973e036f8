import { Presets, SingleBar } from 'cli-progress'
import type { Terminal } from './terminal.ts'

/** Shows how far something is, on standard error: as a bar in a terminal, otherwise as a line now and then. */
export interface ProgressBar {
  update: (done: number, words: string) => void
  stop: () => void
}

const lineMilliseconds = 10_000

/** Starts to show the progress of `title` towards `total`. */
export function startProgress(terminal: Terminal, title: string, total: number): ProgressBar {
  return terminal.interactive ? startBar(title, total) : startLines(terminal, title, total)
}

function startBar(title: string, total: number): ProgressBar {
  const format = `${title} [{bar}] {percentage}% {words} {duration_formatted}`
  const bar = new SingleBar({ format, stream: process.stderr, hideCursor: true }, Presets.rect)
  bar.start(total, 0, { words: '' })
  return { update: (done, words) => bar.update(done, { words }), stop: () => bar.stop() }
}

function startLines(terminal: Terminal, title: string, total: number): ProgressBar {
  let shownAt = Date.now()
  return {
    update(done, words) {
      if (Date.now() - shownAt < lineMilliseconds) return
      shownAt = Date.now()
      const share = total === 0 ? '' : ` ${Math.floor((100 * done) / total)}%`
      terminal.err(`${title}${share} ${words}`)
    },
    stop: () => undefined,
  }
}

import type { Terminal } from './terminal.ts'

const intervalMilliseconds = 10_000

/** Returns a function that shows how far a command is, on standard error, every ten seconds. */
export function startProgress(terminal: Terminal, title: string): (text: string) => void {
  let shownAt = Date.now()
  return (text) => {
    if (Date.now() - shownAt < intervalMilliseconds) return
    shownAt = Date.now()
    terminal.err(`${title} ${text}`)
  }
}

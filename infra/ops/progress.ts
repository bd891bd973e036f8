import { SingleBar } from 'cli-progress'
import { setTimeout as wait } from 'node:timers/promises'
import type { Terminal } from './terminal.ts'

/** Shows how much of some work is done, and of how much. */
export type ShowProgress = (done: number, end: number) => void

/** The progress of some work on a screen. It disappears when it is disposed of. */
export interface Progress extends Disposable {
  /** Whether there is a screen at all. */
  isShown: boolean
  /** If more is done than `end`, which may be an estimate, the end is moved. */
  show: ShowProgress
}

/** Work that ends sooner than this shows no progress, because it would only flicker. */
const delayMilliseconds = 500

/** Starts to show the progress of some work. Without a screen, nothing is shown. */
export function startProgress({ screen }: Pick<Terminal, 'screen'>, title: string, unit: string): Progress {
  const startedAt = Date.now()
  let bar: SingleBar | undefined
  const start = (stream: NodeJS.WriteStream, done: number, end: number) => {
    const format = `${title} [{bar}] {percentage} %, {value} of {total} ${unit}`
    const options = { stream, format, barsize: 20, barCompleteChar: '=', barIncompleteChar: ' ' }
    const started = new SingleBar({ ...options, clearOnComplete: true, hideCursor: true })
    started.start(end, done)
    return started
  }
  return {
    isShown: screen !== undefined,
    show(done, end) {
      if (screen === undefined || Date.now() - startedAt < delayMilliseconds) return
      const total = Math.max(done, end)
      bar ??= start(screen, done, total)
      bar.setTotal(total)
      bar.update(done)
    },
    [Symbol.dispose]: () => bar?.stop(),
  }
}

/** Shows the progress of a number that falls to zero, and that may rise first. */
export function showFall(show: ShowProgress): (left: number) => void {
  let most = 0
  return (left) => {
    most = Math.max(most, left)
    show(most - left, most)
  }
}

/** Waits, and shows how many seconds have passed. */
export async function waitVisibly(
  terminal: Pick<Terminal, 'screen'>,
  title: string,
  milliseconds: number,
): Promise<void> {
  using progress = startProgress(terminal, title, 'seconds')
  const startedAt = performance.now()
  for (let passed = 0; passed < milliseconds; passed = performance.now() - startedAt) {
    progress.show(Math.floor(passed / 1_000), Math.ceil(milliseconds / 1_000))
    await wait(Math.min(1_000, milliseconds - passed))
  }
}

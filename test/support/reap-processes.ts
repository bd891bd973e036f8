import { ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { afterAll } from 'vitest'

// Every process that a test file starts ends with the file, even after a failed test or when the test runner
// is interrupted or killed. A second process, the reaper, ends them.

let reaper: Writable | undefined
let startingReaper = false

/** Tells the reaper about a process. Starts the reaper when it is first needed. */
function tell(line: string): void {
  reaper ??= startReaper()
  reaper.write(`${line}\n`)
}

function startReaper(): Writable {
  startingReaper = true
  const child = spawn(process.execPath, [join(import.meta.dirname, 'reaper.mjs')], {
    stdio: ['pipe', 'ignore', 'inherit'],
    // The reaper is not in the process group that Ctrl-C on the terminal reaches.
    detached: true,
  })
  startingReaper = false
  child.unref()
  return child.stdin
}

// Every asynchronous way to start a process calls this method.
const prototype = ChildProcess.prototype as unknown as {
  spawn: (this: ChildProcess, ...rest: unknown[]) => unknown
}
const original = prototype.spawn
prototype.spawn = function (...rest) {
  const result = original.apply(this, rest)
  const { pid } = this
  if (pid !== undefined && !startingReaper) {
    tell(`+${pid}`)
    this.once('exit', () => tell(`-${pid}`))
  }
  return result
}

afterAll(() => {
  reaper?.end()
  reaper = undefined
})

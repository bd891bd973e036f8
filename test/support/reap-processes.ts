import { ChildProcess } from 'node:child_process'
import { afterAll } from 'vitest'

// Every process that a test file starts ends with the file, even after a failed test.
const running = new Set<ChildProcess>()

// Replaces `spawn` of ChildProcess, because every asynchronous way to start a process calls this method.
const prototype = ChildProcess.prototype as unknown as {
  spawn: (this: ChildProcess, ...rest: unknown[]) => unknown
}
const original = prototype.spawn
prototype.spawn = function (...rest) {
  running.add(this)
  this.once('exit', () => running.delete(this))
  return original.apply(this, rest)
}

afterAll(() => {
  for (const child of running) child.kill()
  prototype.spawn = original
})

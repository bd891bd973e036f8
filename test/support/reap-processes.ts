import { ChildProcess } from 'node:child_process'
import { afterAll } from 'vitest'

// At the end of a test file, kills every process that the file has started, even after a failed test.
const running = new Set<ChildProcess>()

// Replaces `spawn` of ChildProcess, because every asynchronous way to start a process calls this method.
const prototype = ChildProcess.prototype as unknown as {
  spawn: (this: ChildProcess, options: { file: string }) => unknown
}
const original = prototype.spawn
prototype.spawn = function (options) {
  // esbuild's process is kept: it also serves the worker's next test files, and ends with the worker.
  if (!options.file.includes('esbuild')) {
    running.add(this)
    this.once('exit', () => running.delete(this))
  }
  return original.call(this, options)
}

afterAll(() => {
  for (const child of running) child.kill()
  prototype.spawn = original
})

import childProcess, { ChildProcess } from 'node:child_process'
import dgram from 'node:dgram'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import workerThreads from 'node:worker_threads'
import { afterAll, afterEach } from 'vitest'

/** Forbidden calls (sockets, processes, threads) that the running test has made. */
const attempts: string[] = []

/** Creates the replacement of a forbidden function. The replacement records its call and throws. */
const forbid = (what: string) =>
  function forbidden(): never {
    attempts.push(what)
    throw new Error(explain([what]))
  }

const explain = (what: string[]): string =>
  `a unit test must not ${what.join(', ')}: see vitest.config.ts for the suffix that allows it`

// Forbids processes and sockets by replacing the functions that start or open them. Also forbids threads,
// because a new thread would have the original functions.
Object.assign(net.Socket.prototype, { connect: forbid('open a socket') })
Object.assign(net.Server.prototype, { listen: forbid('listen on a socket') })
Object.assign(dgram, { createSocket: forbid('open a socket') })
Object.assign(ChildProcess.prototype, { spawn: forbid('start a process') })
for (const name of ['spawnSync', 'execSync', 'execFileSync'])
  Object.assign(childProcess, { [name]: forbid('start a process') })
Object.assign(workerThreads, { Worker: forbid('start a thread') })
// Also replaces the forbidden functions in modules that import them by name.
syncBuiltinESMExports()

/** Fails a test that made a forbidden call, even if the tested code caught the error. */
const failOnAttempts = () => {
  const tried = attempts.splice(0)
  if (tried.length > 0) throw new Error(explain([...new Set(tried)]))
}
afterEach(failOnAttempts)
afterAll(failOnAttempts)

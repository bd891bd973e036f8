import childProcess, { ChildProcess } from 'node:child_process'
import dgram from 'node:dgram'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import workerThreads from 'node:worker_threads'
import { afterAll, afterEach } from 'vitest'

/** What the running test has tried and may not do. */
const attempts: string[] = []

/** Forgets what has been tried, and returns it. */
export const takeAttempts = (): string[] => attempts.splice(0)

/** A stand-in that remembers the attempt and throws. */
const forbid = (what: string) =>
  function forbidden(): never {
    attempts.push(what)
    throw new Error(explain([what]))
  }

const explain = (what: string[]): string =>
  `a unit test must not ${what.join(', ')}: see vitest.config.ts for the suffix that allows it`

// Every client, `fetch` included, connects through Socket, and every server listens through Server. A thread
// would not have these stand-ins.
Object.assign(net.Socket.prototype, { connect: forbid('open a socket') })
Object.assign(net.Server.prototype, { listen: forbid('listen on a socket') })
Object.assign(dgram, { createSocket: forbid('open a socket') })
Object.assign(ChildProcess.prototype, { spawn: forbid('start a process') })
for (const name of ['spawnSync', 'execSync', 'execFileSync'])
  Object.assign(childProcess, { [name]: forbid('start a process') })
Object.assign(workerThreads, { Worker: forbid('start a thread') })
// Modules that import these functions by name get the stand-ins, too.
syncBuiltinESMExports()

/** Fails the test even where the code under test has caught the error. */
const failOnAttempts = () => {
  const tried = takeAttempts()
  if (tried.length > 0) throw new Error(explain([...new Set(tried)]))
}
afterEach(failOnAttempts)
afterAll(failOnAttempts)

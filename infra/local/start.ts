import { enableCompileCache } from 'node:module'
import { parseOptions } from './options.ts'
import { StartupError } from './startup-error.ts'

// Functions tell the time by UTC, as on Lambda, and threads share the time zone of their process.
process.env.TZ = 'UTC'
// CDK is a hundred thousand lines, which load in half the time once they are compiled.
enableCompileCache()
const options = parseOptions(process.argv.slice(2))

/** Ctrl-C arrives from the terminal and from the parent: signals within this time count as one. */
const sameSignalMilliseconds = 500

let stop: (() => Promise<void>) | undefined
let signalledAt = 0

function onSignal(): void {
  const now = Date.now()
  if (signalledAt !== 0 && now - signalledAt < sameSignalMilliseconds) return
  // Before the start is complete, or on a second signal: what was started ends with this process.
  if (signalledAt !== 0 || stop === undefined) process.exit(130)
  signalledAt = now
  console.error('stopping ...')
  stop().then(
    () => process.exit(0),
    (error: unknown) => {
      console.error(error)
      process.exit(1)
    },
  )
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)

try {
  // Loaded here, so that a signal is heard during the second that it takes.
  const { startLocalStack } = await import('./local-stack.ts')
  const stack = await startLocalStack({ ...options, showLine: (line) => console.error(line) })
  stop = stack.stop
  console.log(`console     ${stack.baseUrl}/_local/`)
  console.log(`AWS         ${stack.awsUrl}`)
  console.log(`logs        ${stack.logFile}`)
  console.log(`ready ${stack.baseUrl}`)
} catch (error) {
  console.error(error instanceof StartupError ? error.message : error)
  process.exit(1)
}

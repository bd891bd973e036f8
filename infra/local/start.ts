import { enableCompileCache } from 'node:module'
import { parseOptions } from './options.ts'
import { StartupError } from './startup-error.ts'

// Functions tell time by UTC, as on Lambda: threads share the zone of their process.
process.env.TZ = 'UTC'
// CDK is a hundred thousand lines: compiled once, they load in half the time.
enableCompileCache()
const options = parseOptions(process.argv.slice(2))

let stop: (() => Promise<void>) | undefined
let signalled = 0

/** Ctrl-C reaches us from the terminal and from our parent: two within this time are one, in milliseconds. */
const sameSignal = 500

function onSignal(): void {
  const now = Date.now()
  if (signalled !== 0 && now - signalled < sameSignal) return
  // Asked again, or asked before there was anything to stop in order: what we started ends with this process.
  if (signalled !== 0 || stop === undefined) process.exit(130)
  signalled = now
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
  // Loaded here, so that a signal during the second that it takes is heard.
  const { startLocalStack } = await import('./local-stack.ts')
  const stack = await startLocalStack({ ...options, showLine: (line) => console.error(line) })
  stop = stack.stop
  console.log(`page        ${stack.baseUrl}/_local/`)
  console.log(`AWS         ${stack.awsUrl}`)
  console.log(`logs        ${stack.logFile}`)
  console.log(`ready ${stack.baseUrl}`)
} catch (error) {
  console.error(error instanceof StartupError ? error.message : error)
  await stop?.()
  process.exit(1)
}

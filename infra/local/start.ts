import { enableCompileCache } from 'node:module'
import { forgetAwsSettings } from '../ops/forget-aws-settings.ts'
import { demoPassword, demoUsers } from './demo/demo-users.ts'
import { describeQuirks } from './quirks.ts'
import { parseOptions } from './options.ts'
import { StartupError } from './startup-error.ts'

// Functions use UTC, as on Lambda. Worker threads share the time zone of their process, so it is set here.
process.env.TZ = 'UTC'
forgetAwsSettings()
// Caches compiled code: CDK's hundred thousand lines then load in half the time.
enableCompileCache()
const options = parseOptions(process.argv.slice(2))

/** Signals within this time count as one: Ctrl-C arrives from the terminal and from the parent process. */
const sameSignalMilliseconds = 500

let stop: (() => Promise<void>) | undefined
let signalledAt = 0

function onSignal(): void {
  const now = Date.now()
  if (signalledAt !== 0 && now - signalledAt < sameSignalMilliseconds) return
  // Exit at once on a second signal, or on any signal during startup. Child processes then end by themselves.
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
// with-dependencies.mjs, which npm runs, can be killed (SIGKILL) before it passes a signal on. A changed
// parent process id shows that it has ended.
if (process.env['npm_lifecycle_event'] !== undefined) {
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    onSignal()
  }, 200).unref()
}

try {
  // Import only after setting the signal handlers: loading takes a second, and a signal that comes meanwhile
  // must be handled.
  const { startLocalStack } = await import('./local-stack.ts')
  const stack = await startLocalStack({ ...options, showLine: (line) => console.error(line) })
  stop = stack.stop
  if (options.publicUrl !== undefined)
    console.log(`public      ${options.publicUrl}, which a proxy passes on to ${stack.baseUrl}`)
  console.log(`open        ${stack.baseUrl}/_local/ for what runs, the demo users and every mail`)
  console.log(`app         ${stack.appUrl} shows what a user has: a sample, infra/samples/wallet`)
  console.log(`reference   ${stack.baseUrl}/_local/docs`)
  const { email, totp_secret: secret } = demoUsers[0] ?? {}
  if (options.demo) console.log(`demo user   ${email}, password "${demoPassword}", authenticator ${secret}`)
  console.log(`AWS         ${stack.awsUrl}`)
  console.log(`logs        ${stack.logFile}`)
  if (options.aws !== undefined) console.log(`quirks     --aws ${describeQuirks(options.aws)}`)
  console.log(`ready ${stack.baseUrl}`)
} catch (error) {
  console.error(error instanceof StartupError ? error.message : error)
  process.exit(1)
}

// `npm run test:deploy`: deploys a stage, tries it, and removes it again. Exit codes: 0 passed, 1 failed,
// 2 nothing was tried.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NoEmulatorError } from './find-emulator.ts'
import { readOptions, UsageError } from './options.ts'
import { choosePlace } from './place.ts'

const directory = mkdtempSync(join(tmpdir(), 'test-deploy-'))
let stop = async () => {}
let child: ChildProcess | undefined
const interruption = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    interruption.abort()
    child?.kill(signal)
  })
try {
  const options = readOptions(process.argv.slice(2))
  const place = await choosePlace(options, directory)
  stop = place.stop
  if (interruption.signal.aborted) throw new UsageError('Interrupted.')
  console.log(place.title)
  const task = JSON.stringify({ ...place.task, directory })
  // A process of its own, because Node.js reads the certificates to trust only when it starts, and modules
  // that create AWS clients read the environment when they are loaded.
  child = spawn(process.execPath, [join(import.meta.dirname, 'try-stage.ts'), task], {
    stdio: 'inherit',
    env: place.environment,
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  process.exitCode = code ?? 1
} catch (error) {
  const refused = error instanceof NoEmulatorError || error instanceof UsageError
  console.error(refused ? error.message : error)
  process.exitCode = refused ? 2 : 1
}
await stop()
if (process.exitCode === 1) console.error(`The logs are in ${directory}.`)
else rmSync(directory, { recursive: true, force: true })

// Sends hostile requests to a local stack, and checks every answer and log line. Schemathesis generates the
// requests from the API reference. Usage: npm run test:fuzz [-- OPTIONS of schemathesis run]
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { installPython } from '../support/install-python.ts'
import { startUnthrottledStack } from '../support/start-unthrottled-stack.ts'
import { collectReasons } from './refusals.ts'
import '../support/silence-log.ts'

const here = import.meta.dirname
const programs = installPython()
await using stack = await startUnthrottledStack()
// Modules of functions/ and shared/ are imported only now, because they read the environment on load.
const { describeActors } = await import('./actors.ts')
const directory = dirname(stack.logFile)
const actors = join(directory, 'actors.json')
const described = await describeActors()
const semanticReasons = await collectReasons(stack.baseUrl, described.alices[0] ?? '')
writeFileSync(actors, JSON.stringify({ ...described, semanticReasons }))
const { status } = spawnSync(
  join(programs, 'schemathesis'),
  [
    ...['--config-file', join(here, 'schemathesis.toml')],
    ...['run', `${stack.baseUrl}/_local/docs/openapi.json`, '--url', stack.baseUrl, ...process.argv.slice(2)],
  ],
  {
    cwd: directory,
    stdio: 'inherit',
    env: {
      ...process.env,
      SCHEMATHESIS_HOOKS: 'hooks',
      PYTHONPATH: here,
      PYTHONDONTWRITEBYTECODE: '1',
      FUZZ_ACTORS: actors,
      FUZZ_LOG: stack.logFile,
    },
  },
)
process.exitCode = status ?? 1

// Sends hostile requests to a local stack with schemathesis, which generates them from the API reference, and
// checks every answer and log line: npm run test:fuzz [-- OPTIONS of schemathesis run].
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installPython } from '../support/install-python.ts'
import { startUnthrottledStack } from '../support/start-unthrottled-stack.ts'

const here = import.meta.dirname
const programs = installPython()
await using stack = await startUnthrottledStack()
process.env['POWERTOOLS_LOG_LEVEL'] ??= 'SILENT'
// Modules of functions/ and shared/ are imported only now, because they read the environment on load.
const { openApiDocument } = await import('../../infra/openapi/document.ts')
const { describeActors } = await import('./actors.ts')
const directory = mkdtempSync(join(tmpdir(), 'fuzz-'))
const [reference, actors] = ['openapi.json', 'actors.json'].map((name) => join(directory, name)) as [
  string,
  string,
]
writeFileSync(reference, JSON.stringify(await openApiDocument()))
writeFileSync(actors, JSON.stringify(await describeActors()))
const child = spawn(
  join(programs, 'schemathesis'),
  [
    ...['--config-file', join(here, 'schemathesis.toml')],
    ...['run', reference, '--url', stack.baseUrl, ...process.argv.slice(2)],
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
const [code] = (await once(child, 'exit')) as [number | null]
rmSync(directory, { recursive: true })
process.exitCode = code ?? 1

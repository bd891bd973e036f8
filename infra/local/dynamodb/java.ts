import { execFile } from 'node:child_process'
import { platform } from 'node:os'
import { promisify } from 'node:util'
import { StartupError } from '../startup-error.ts'

const run = promisify(execFile)

/** The oldest Java that DynamoDB Local runs on. */
const oldestJava = 17

const installCommands: Partial<Record<NodeJS.Platform, string>> = {
  linux:
    '`sudo apt-get install -y openjdk-17-jre-headless` (Debian, Ubuntu) or `sudo dnf install -y java-17-openjdk-headless` (Fedora)',
  darwin: '`brew install --cask temurin`',
  win32: '`winget install EclipseAdoptium.Temurin.21.JRE`',
}

/** The Java to start, out of JAVA_HOME or the PATH. Throws a `StartupError` with the install command where there is none. */
export async function findJava(environment: NodeJS.ProcessEnv = process.env): Promise<string> {
  const command = environment.JAVA_HOME === undefined ? 'java' : `${environment.JAVA_HOME}/bin/java`
  const version = await readJavaVersion(command, environment)
  if (version !== undefined && version >= oldestJava) return command
  const found = version === undefined ? 'was not found' : `is only version ${version}`
  const install = installCommands[platform()] ?? 'from https://adoptium.net'
  throw new StartupError(
    `DynamoDB Local needs Java ${oldestJava} or later, which ${found}: install it with ${install}, or point to a running one with --dynamodb-endpoint URL`,
  )
}

async function readJavaVersion(command: string, environment: NodeJS.ProcessEnv): Promise<number | undefined> {
  try {
    const { stdout, stderr } = await run(command, ['-version'], { env: environment })
    const [, major = '', minor] = /version "(\d+)(?:\.(\d+))?/.exec(stdout + stderr) ?? []
    // Java 8 and older call themselves 1.8.
    return Number(major === '1' ? minor : major) || undefined
  } catch {
    // Not there, or not to be run: both mean that there is no Java for us.
    return undefined
  }
}

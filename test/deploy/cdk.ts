import { type ChildProcess, spawn } from 'node:child_process'
import { createWriteStream, readFileSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')
let running: ChildProcess | undefined

/** Maximum time of a command. On AWS, CloudFront alone can take ten minutes. */
const maxMilliseconds = process.env['AWS_ENDPOINT_URL'] === undefined ? 2_700_000 : 600_000

/**
 * Runs a CDK command and writes its output into a log file. Throws an Error that quotes the log if the
 * command fails or times out.
 */
export async function cdk(logFile: string, ...commandLine: string[]): Promise<void> {
  const log = createWriteStream(logFile)
  await once(log, 'open')
  running = spawn(
    process.execPath,
    ['node_modules/aws-cdk/bin/cdk', ...commandLine, '--no-notices', '--no-color'],
    {
      cwd: root,
      stdio: ['ignore', log, log],
      env: { ...process.env, CDK_DISABLE_CLI_TELEMETRY: 'true' },
      timeout: maxMilliseconds,
    },
  )
  const [status] = (await once(running, 'exit')) as [number | null]
  running = undefined
  log.end()
  if (status === 0) return
  throw new Error(
    `cdk ${commandLine[0] ?? ''} ended with ${status ?? 'a signal'}:\n${readEnd(readFileSync(logFile, 'utf8'))}`,
  )
}

const maxLines = 12

function readEnd(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const start = lines.findIndex((line) => /^Failed resources:|❌/.test(line))
  return (start === -1 ? lines.slice(-maxLines) : lines.slice(start, start + maxLines)).join('\n')
}

/** Stops the running command. CDK does not roll back what the command has begun. */
export const stopCdk = (): void => void running?.kill()

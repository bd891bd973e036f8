import { spawn } from 'node:child_process'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** The exit code of the stack's process, and the time between the last signal and the exit. */
interface Ended {
  code: number | null
  milliseconds: number
}

const commandLine = [process.execPath, 'infra/local/start.ts']
/** The command that people type to start the local stack. */
export const throughNpm = ['npm', 'start', '--']
/** Options that make the stack choose free ports. */
export const anyPorts = ['--port', '0', '--aws-port', '0', '--page-port', '0', '--app-port', '0']

/**
 * Starts the local stack in a process of its own. `ready` resolves with the URL of the API, and rejects when
 * the process ends before that.
 */
export function startCommand(
  args: string[],
  environment: NodeJS.ProcessEnv = {},
  [command = '', ...before] = commandLine,
) {
  const child = spawn(command, [...before, ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  })
  const output = { out: '', error: '' }
  child.stderr.on('data', (chunk: Buffer) => (output.error += chunk.toString()))
  let signalled = Date.now()
  const ended = new Promise<Ended>((resolve) =>
    child.once('exit', (code) => resolve({ code, milliseconds: Date.now() - signalled })),
  )
  const ready = new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      output.out += chunk.toString()
      const [, url] = /^ready (http:\/\/127\.0\.0\.1:\d+)$/m.exec(output.out) ?? []
      if (url !== undefined) resolve(url)
    })
    void ended.then(() => reject(new Error(output.error)))
  })
  return {
    output,
    ready,
    ended,
    signal: (name: NodeJS.Signals) => {
      signalled = Date.now()
      child.kill(name)
      return ended
    },
  }
}

import { spawn } from 'node:child_process'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** How it ended: its exit code, and how long after the last signal. */
interface Ended {
  code: number | null
  milliseconds: number
}

const commandLine = [process.execPath, 'infra/local/start.ts']
/** The command of a person, in place of the program behind it. */
export const throughNpm = ['npm', 'start', '--']

/**
 * Starts the stack in a process of its own; `ready` resolves with the address of the API, or rejects when it
 * ends before.
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

import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'

const root = join(import.meta.dirname, '../..')
const directory = mkdtempSync(join(tmpdir(), 'reaped-'))
afterAll(() => rmSync(directory, { recursive: true }))

interface Running {
  pid: number
  servers: string[]
}

/**
 * Runs the fixture until it has failed or received a signal, and resolves with the processes that it had
 * started.
 */
async function run(ending: 'failure' | NodeJS.Signals): Promise<Running> {
  const file = join(directory, ending)
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/support/fixture/vitest.config.ts']
  const runner = spawn(process.execPath, args, {
    cwd: root,
    stdio: 'ignore',
    env: { ...process.env, RUNNING_FILE: file, ENDING: ending },
  })
  const ended = new Promise((resolve) => runner.once('exit', resolve))
  await vi.waitFor(() => expect(readFileSync(file, 'utf8')).toMatch(/\}$/), { timeout: 40_000, interval: 50 })
  if (ending !== 'failure') runner.kill(ending)
  await ended
  return JSON.parse(readFileSync(file, 'utf8')) as Running
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => true,
    () => false,
  )

it.concurrent.each(['failure', 'SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
  'a test run that ends with %s leaves no process behind',
  { timeout: 60_000 },
  async (ending) => {
    const { pid, servers } = await run(ending)
    const check = async () => {
      expect(isRunning(pid)).toBe(false)
      for (const url of servers) expect(await answers(url)).toBe(false)
    }
    await vi.waitFor(check, { timeout: 20_000, interval: 50 })
  },
)

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const wanted = 'hono@4.13.19'

/**
 * Installs hono, which only this benchmark needs, into a temporary directory, or reuses an earlier
 * installation. Returns the path of `node_modules`, or undefined if npm fails.
 */
export async function installHono(): Promise<string | undefined> {
  const directory = join(tmpdir(), 'bench-peers', wanted)
  const modules = join(directory, 'node_modules')
  const stamp = join(directory, 'installed')
  if (existsSync(stamp)) return modules
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  const npm = process.env['npm_execpath']
  const [command, before] = npm === undefined ? ['npm', []] : [process.execPath, [npm]]
  const options = ['install', '--prefix', directory, '--no-audit', '--no-fund', '--ignore-scripts']
  try {
    await promisify(execFile)(command, [...before, ...options, wanted], { timeout: 120_000 })
  } catch (error) {
    process.stderr.write(`absent: ${wanted} (${String(error).split('\n', 1)[0] ?? ''})\n`)
    return undefined
  }
  writeFileSync(stamp, '')
  return modules
}

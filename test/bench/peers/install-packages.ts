import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Options } from '../part.ts'
import { packages } from './packages.ts'

export type PackageName = keyof typeof packages

/**
 * Installs packages of the list into a temporary directory, unless an earlier run has, and returns the
 * directory of modules; undefined if npm cannot install them, which makes the peer absent.
 */
export async function installPackages(
  names: readonly PackageName[],
  say: Options['say'],
): Promise<string | undefined> {
  const wanted = names.map((name) => `${name}@${packages[name]}`)
  const directory = join(tmpdir(), 'bench-peers', wanted.join('+').replaceAll(/[^\w.@+-]/g, '_'))
  const modules = join(directory, 'node_modules')
  const stamp = join(directory, 'installed')
  if (existsSync(stamp)) return modules
  say(`installing ${wanted.join(' ')} into ${directory}`)
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  const npm = process.env['npm_execpath']
  const [command, before] = npm === undefined ? ['npm', []] : [process.execPath, [npm]]
  const options = [
    'install',
    '--prefix',
    directory,
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    '--save-exact',
  ]
  try {
    await promisify(execFile)(command, [...before, ...options, ...wanted], { timeout: 120_000 })
  } catch (error) {
    say(`absent: ${wanted.join(' ')} (${String(error).split('\n', 1)[0] ?? ''})`)
    return undefined
  }
  writeFileSync(stamp, '')
  return modules
}

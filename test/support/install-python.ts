import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Installs the packages of requirements.txt into a Python virtual environment, if needed. Returns the
 * directory with their commands. Throws an Error that says what this machine lacks.
 */
export function installPython(): string {
  const requirements = join(import.meta.dirname, 'requirements.txt')
  const directory = join(import.meta.dirname, '../../node_modules/.cache/python')
  const stamp = join(directory, 'requirements.txt')
  const programs = join(directory, 'bin')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === readFileSync(requirements, 'utf8')) return programs
  const old = 'import sys; sys.exit(sys.version_info < (3, 11))'
  perform('Python 3.11 or later is needed', 'python3', '-c', old)
  rmSync(directory, { recursive: true, force: true })
  perform('a virtual environment needs the package python3-venv', 'python3', '-m', 'venv', directory)
  const pip = ['-m', 'pip', 'install', '--quiet', '--require-hashes', '--requirement', requirements]
  perform('pip could not install requirements.txt', join(programs, 'python'), ...pip)
  copyFileSync(requirements, stamp)
  return programs
}

/** Runs a command to its end. If it fails, throws an Error that begins with `problem`. */
export function perform(problem: string, command: string, ...args: string[]): void {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${problem}: ${error?.message ?? stderr.trim()}`)
}

import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { findFreePort } from '../../../infra/local/http/bind-server.ts'
import { installPackage, placeProgram } from './install-package.ts'

/** A running PostgreSQL and a program that calls it, or the reason why there is none. */
type RunningPostgres =
  | {
      version: string
      program: string
      environment: Record<string, string>
      stop: () => void
      absent?: undefined
    }
  | { absent: string }

const programs = ['initdb', 'postgres', 'pg_ctl']
/** User and group `nobody` of Linux. PostgreSQL refuses to run as root. */
const nobody = 65_534

/** Starts the newest PostgreSQL of this machine in a temporary directory, with its default settings. */
export async function startPostgres(): Promise<RunningPostgres> {
  const client = await installPackage('pg')
  if (client.absent !== undefined) return client
  // Debian keeps the programs of each version outside of PATH.
  const installed = globSync('/usr/lib/postgresql/*/bin').toSorted((a, b) =>
    b.localeCompare(a, 'en', { numeric: true }),
  )
  const found = [...installed, ...(process.env['PATH'] ?? '').split(delimiter)].find((path) =>
    programs.every((program) => existsSync(join(path, program))),
  )
  if (found === undefined)
    return { absent: 'this machine has no initdb, postgres and pg_ctl (Debian: apt-get install postgresql)' }
  const directory = mkdtempSync(join(tmpdir(), 'bench-postgres-'))
  const owner = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}
  if (owner.uid !== undefined) chownSync(directory, owner.uid, owner.gid)
  const run = (program: string, ...values: string[]) =>
    execFileSync(join(found, program), ['-D', join(directory, 'data'), ...values], {
      ...owner,
      cwd: directory,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
  const port = await findFreePort()
  try {
    run('initdb', '-U', 'bench', '-A', 'trust', '--no-locale', '-E', 'UTF8')
    const settings = `-p ${port} -h 127.0.0.1 -k ${directory}`
    run('pg_ctl', 'start', '-w', '-l', join(directory, 'log'), '-o', settings)
  } catch (error) {
    rmSync(directory, { recursive: true, force: true })
    return { absent: `PostgreSQL does not start (${String(error).split('\n', 2).join(' ')})` }
  }
  return {
    program: placeProgram(client.directory, 'postgres-ledger.mjs'),
    version: execFileSync(join(found, 'postgres'), ['--version'], { encoding: 'utf8' }).trim(),
    environment: { PGHOST: '127.0.0.1', PGPORT: String(port), PGUSER: 'bench', PGDATABASE: 'postgres' },
    stop() {
      run('pg_ctl', 'stop', '-m', 'immediate')
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

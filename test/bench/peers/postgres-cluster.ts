import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findFreePort } from '../../../infra/local/http/bind-server.ts'
import type { Options } from '../part.ts'

/** A PostgreSQL of the benchmark's own, on a free port of 127.0.0.1. */
export interface Cluster {
  version: string
  port: number
  user: string
  stop: () => Promise<void>
}

const user = 'bench'

/**
 * Starts a cluster in a temporary directory; undefined if PostgreSQL is not installed, or cannot be installed
 * where that is allowed. PostgreSQL refuses to run as root, so root starts it as the user `postgres`.
 */
export async function startCluster({ install, say }: Options): Promise<Cluster | undefined> {
  const programs = findPrograms() ?? (install ? installPrograms(say) : undefined)
  if (programs === undefined) return undefined
  const directory = mkdtempSync(join(tmpdir(), 'bench-postgres-'))
  chmodSync(directory, 0o777)
  const data = join(directory, 'data')
  const as = process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--'] : []
  const run = (program: string, args: string[]) => {
    const [command = '', ...all] = [...as, join(programs, program), ...args]
    return { command, all }
  }
  const { command, all } = run('initdb', ['-D', data, '-U', user, '-A', 'trust', '--no-locale', '-E', 'UTF8'])
  execFileSync(command, all, { stdio: 'ignore', cwd: directory })
  const port = await findFreePort()
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${directory}`]
  const server = run('postgres', ['-D', data, ...settings.flatMap((setting) => ['-c', setting])])
  const child = spawn(server.command, server.all, { stdio: ['ignore', 'ignore', 'pipe'], cwd: directory })
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => {
      if (chunk.toString().includes('ready to accept connections')) resolve()
    })
    child.once('exit', (code) => reject(new Error(`postgres ended with ${code ?? 'a signal'}`)))
  })
  const asked = run('postgres', ['--version'])
  return {
    version: execFileSync(asked.command, asked.all, { cwd: directory }).toString().trim(),
    port,
    user,
    async stop() {
      const ended = once(child, 'exit')
      const { command: stop, all: args } = run('pg_ctl', ['stop', '-D', data, '-m', 'immediate'])
      execFileSync(stop, args, { stdio: 'ignore', cwd: directory })
      await ended
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** The directory of the programs of the newest PostgreSQL here. */
const findPrograms = (): string | undefined =>
  [...globSync('/usr/lib/postgresql/*/bin').sort().reverse(), '/usr/local/bin', '/usr/bin'].find(
    (directory) => ['initdb', 'postgres', 'pg_ctl'].every((program) => existsSync(join(directory, program))),
  )

function installPrograms(say: Options['say']): string | undefined {
  say('installing PostgreSQL')
  try {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    execFileSync('apt-get', ['install', '-y', '-q', '--no-install-recommends', 'postgresql'], {
      stdio: 'ignore',
      env,
    })
  } catch (error) {
    say(`PostgreSQL cannot be installed: ${String(error)}`)
  }
  return findPrograms()
}

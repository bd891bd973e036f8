import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** The exact versions of the packages that only this benchmark needs. */
const versions = {
  'better-auth': '1.7.25',
  hono: '4.13.19',
  'oidc-provider': '9.13.3',
  pg: '8.23.1',
} as const

type PeerPackage = keyof typeof versions

/** The directory of an installed package, or the reason why there is none. */
export type Installed = { directory: string; absent?: undefined } | { directory?: undefined; absent: string }

/**
 * Installs a package into a temporary directory, or reuses an earlier installation. If npm fails, resolves
 * with the reason, and the benchmark goes on without this peer.
 */
export async function installPackage(name: PeerPackage): Promise<Installed> {
  const wanted = `${name}@${versions[name]}`
  const directory = join(tmpdir(), 'bench-peers', wanted)
  const stamp = join(directory, 'installed')
  if (existsSync(stamp)) return { directory }
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  const npm = process.env['npm_execpath']
  const [command, before] = npm === undefined ? ['npm', []] : [process.execPath, [npm]]
  const options = ['install', '--prefix', directory, '--no-audit', '--no-fund', '--ignore-scripts']
  try {
    await promisify(execFile)(command, [...before, ...options, wanted], { timeout: 120_000 })
  } catch (error) {
    const reason = /npm error (?:code )?(\S.*)/.exec(String(error))?.[1] ?? String(error).split('\n', 1)[0]
    return { absent: `npm cannot install ${wanted} (${reason ?? ''})` }
  }
  writeFileSync(stamp, '')
  return { directory }
}

/** Copies a program of this directory to where its imports find the package. Returns the program's path. */
export function placeProgram(directory: string, file: string): string {
  const placed = join(directory, file)
  copyFileSync(join(import.meta.dirname, file), placed)
  return placed
}

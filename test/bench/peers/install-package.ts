import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/**
 * The exact versions of the packages that the service is compared with. A run installs them into a temporary
 * directory, because nothing else in this project needs them.
 */
const versions = {
  hono: '4.13.19',
  'oidc-provider': '9.13.3',
} as const

/**
 * Installs a package unless an earlier run has done so, and returns its directory of modules. Returns
 * undefined if npm cannot install the package; the tables then show the peer as absent.
 */
export async function installPackage(name: keyof typeof versions): Promise<string | undefined> {
  const wanted = `${name}@${versions[name]}`
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

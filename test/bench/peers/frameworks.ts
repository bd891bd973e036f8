import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { bundleByDefault } from '../bundles.ts'

/**
 * The packages that the service is compared with, in exact versions. They are installed for a run into a
 * temporary directory, because nothing else of this project needs them.
 */
const versions = {
  express: '5.3.0',
  '@codegenie/serverless-express': '5.0.0',
  hono: '4.13.19',
  'oidc-provider': '9.13.3',
  'better-auth': '1.7.25',
  pg: '8.23.1',
} as const

/**
 * Installs packages, unless an earlier run has, and returns their directory of modules; undefined if npm
 * cannot install them, which makes the peer absent.
 */
export async function installPackages(...names: (keyof typeof versions)[]): Promise<string | undefined> {
  const wanted = names.map((name) => `${name}@${versions[name]}`)
  const directory = join(tmpdir(), 'bench-peers', wanted.join('+').replaceAll(/[^\w.@+-]/g, '_'))
  const modules = join(directory, 'node_modules')
  const stamp = join(directory, 'installed')
  if (existsSync(stamp)) return modules
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  const npm = process.env['npm_execpath']
  const [command, before] = npm === undefined ? ['npm', []] : [process.execPath, [npm]]
  const options = ['install', '--prefix', directory, '--no-audit', '--no-fund', '--ignore-scripts']
  try {
    await promisify(execFile)(command, [...before, ...options, ...wanted], { timeout: 120_000 })
  } catch (error) {
    process.stderr.write(`absent: ${wanted.join(' ')} (${String(error).split('\n', 1)[0] ?? ''})\n`)
    return undefined
  }
  writeFileSync(stamp, '')
  return modules
}

/** Imports a package, or a part of it, from a directory of modules outside this project. */
export async function loadPackage<T>(modules: string, name: string): Promise<T> {
  const file = createRequire(join(modules, 'bench.mjs')).resolve(name)
  return (await import(pathToFileURL(file).href)) as T
}

/** Writes the endpoint GET /account/info again in two frameworks, and bundles each by esbuild's defaults. */
export async function bundleFrameworks(directory: string) {
  const found = {
    express: await installPackages('express', '@codegenie/serverless-express'),
    hono: await installPackages('hono'),
  }
  const files: Record<string, string> = {}
  const absent: string[] = []
  for (const [name, modules] of Object.entries(found)) {
    if (modules === undefined) absent.push(name)
    else {
      await bundleByDefault({ [name]: `test/bench/peers/${name}-account-info.mjs` }, directory, modules)
      files[`${name}, its Lambda adapter`] = join(directory, `${name}.cjs`)
    }
  }
  return { files, absent }
}

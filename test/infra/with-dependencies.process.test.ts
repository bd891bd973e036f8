import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { preload } from '../support/preload.ts'
import { newDirectory } from '../support/new-directory.ts'

const clone = join(newDirectory(), 'a clone')
const npm = join(clone, 'npm.js')
const stamp = join(clone, 'node_modules/.installed-lock.json')

beforeEach(() => {
  rmSync(clone, { recursive: true, force: true })
  cpSync('infra/with-dependencies.mjs', join(clone, 'infra/with-dependencies.mjs'))
  const jose = { version: '6.2.17', dev: true }
  writeLock({ '': { devDependencies: { jose: '6.2.17' } }, 'node_modules/jose': jose })
})

function writeLock(packages: Record<string, object>): void {
  writeFileSync(join(clone, 'package.json'), JSON.stringify(packages['']))
  writeFileSync(join(clone, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages }))
}

/** Writes a lock file that pins a Node of this machine, which comes from a file instead of the registry. */
function pinNode(): void {
  const folder = join(clone, 'packed/package')
  mkdirSync(join(folder, 'bin'), { recursive: true })
  const found = { version: '24.0.0', os: process.platform, cpu: process.arch, bin: { node: 'bin/node' } }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'pinned-node', ...found }))
  writeFileSync(join(folder, 'bin/node'), `#!/bin/sh\nexec '${process.execPath}' "$@"\n`, { mode: 0o755 })
  expect(spawnSync('tar', ['czf', '../pinned.tgz', 'package'], { cwd: join(folder, '..') }).status).toBe(0)
  const integrity = `sha512-${createHash('sha512')
    .update(readFileSync(join(clone, 'pinned.tgz')))
    .digest('base64')}`
  const optionalDependencies = { 'pinned-node': 'file:pinned.tgz' }
  writeLock({
    '': { optionalDependencies },
    'node_modules/pinned-node': { ...found, optional: true, resolved: 'file:pinned.tgz', integrity },
  })
}

function start(environment: NodeJS.ProcessEnv, script: string[] = ['x']) {
  return spawnSync(process.execPath, [join(clone, 'infra/with-dependencies.mjs'), ...script], {
    encoding: 'utf8',
    env: { ...process.env, npm_execpath: undefined, npm_config_cache: join(clone, 'cache'), ...environment },
  })
}

function firstStart(environment: NodeJS.ProcessEnv): string {
  const { status, stderr } = start(environment)
  expect(status).toBe(1)
  expect(existsSync(stamp)).toBe(false)
  return stderr.replace(/^installing .*\n/, '')
}

it('an old Node.js is refused with one line that names the required version', () => {
  const old = preload("Object.defineProperty(process, 'versions', { value: { node: '18.20.8' } })")
  expect(firstStart(old)).toMatch(/^Node\.js 18\.20\.8 is too old: install version 20 or later .+\n$/)
})

it.each(['notice', 'silent'])(
  'without a network, the first npm command fails with one line, also in production with loglevel %s',
  (npm_config_loglevel) => {
    const offline = { npm_config_registry: 'http://127.0.0.1:9', npm_config_fetch_retries: '0' }
    expect(firstStart({ ...offline, npm_config_loglevel, NODE_ENV: 'production' })).toMatch(
      /^npm's registry does not answer \(ECONNREFUSED\): connect to the internet .+\n$/,
    )
  },
)

it.each([
  [
    'the disk is full',
    'npm warn tar TAR_ENTRY_ERROR ENOSPC: no space left on device, write',
    0,
    /^there is no space left: make 1 GB free for .+\n$/,
  ],
  [
    'a folder belongs to somebody else',
    'npm error code EACCES\nnpm error path /home/x/.npm/_cacache',
    1,
    /^npm cannot write \/home\/x\/.npm\/_cacache \(EACCES\): make .+\n$/,
  ],
])(
  'if %s, the first npm command fails with one line, so that the next installs again',
  (_cause, complaint, status, line) => {
    // npm exits with 0 although it warns that it could not write files.
    mkdirSync(join(clone, 'node_modules'))
    writeFileSync(npm, `console.error(${JSON.stringify(complaint)}); process.exit(${status})`)
    expect(firstStart({ npm_execpath: npm })).toMatch(line)
  },
)

it('no setting in the user’s .npmrc makes the first start leave anything out', () => {
  pinNode()
  const userconfig = join(clone, 'user.npmrc')
  const settings = ['ignore-scripts=true', 'omit[]=optional', 'omit[]=dev', 'bin-links=false', 'dry-run=true']
  settings.push('package-lock=false', 'global=true', 'install-strategy=linked')
  writeFileSync(userconfig, settings.join('\n'))
  const { status, stdout, stderr } = start({ NPM_CONFIG_USERCONFIG: userconfig }, ['-p', '6 * 7'])
  expect({ status, stdout, stderr }).toMatchObject({ status: 0, stdout: '42\n' })
  expect(existsSync(join(clone, 'node_modules/.bin/node'))).toBe(true)
})

it('if npm leaves the pinned Node.js out, one line says so, and the next start installs it', () => {
  pinNode()
  mkdirSync(join(clone, 'node_modules'))
  writeFileSync(npm, '')
  expect(firstStart({ npm_execpath: npm })).toMatch(/^npm has not installed a Node\.js that runs .+\n$/)
  expect(start({}, ['-p', '1']).stdout).toBe('1\n')
  rmSync(join(clone, 'node_modules/pinned-node'), { recursive: true })
  expect(start({}, ['-p', '2']).stdout).toBe('2\n')
})

it('what a script calls on this machine goes past the proxy of the environment', () => {
  pinNode()
  const script = `
    const server = require('node:http').createServer((_, answer) => answer.end('here')).listen(0, '127.0.0.1')
    server.once('listening', async () => {
      const call = (host) => fetch('http://' + host + ':' + server.address().port).then((answer) => answer.text())
      console.log(await call('127.0.0.1'), await call('localhost').catch((error) => error.cause.code))
      server.close()
    })`
  const proxy = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: 'http://127.0.0.1:9', NO_PROXY: 'example.com' }
  expect(start({ ...proxy, no_proxy: undefined }, ['-e', script])).toMatchObject({ stdout: 'here here\n' })
})

it('every platform’s Node.js stands in the lock file; no package needs an install script', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { os?: string; cpu?: string; bin?: { node?: string }; integrity?: string }>
  }
  const found = Object.values(packages).filter(({ bin }) => bin?.node !== undefined)
  expect(found.map(({ os, cpu }) => `${os ?? ''} ${cpu ?? ''}`).sort()).toEqual([
    'darwin arm64',
    'darwin x64',
    'linux arm64',
    'linux x64',
    'win32 x64',
  ])
  for (const { integrity } of found) expect(integrity).toMatch(/^sha512-/)
  expect(readFileSync('.npmrc', 'utf8')).toContain('ignore-scripts=true')
})

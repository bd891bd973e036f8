import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { preload } from '../support/preload.ts'
import { newDirectory } from '../support/new-directory.ts'

const clone = join(newDirectory(), 'a clone')
const npm = join(clone, 'npm.js')

beforeAll(() => {
  cpSync('infra/with-dependencies.mjs', join(clone, 'infra/with-dependencies.mjs'))
  const jose = { version: '6.2.17', dev: true }
  const packages = { '': { devDependencies: { jose: '6.2.17' } }, 'node_modules/jose': jose }
  writeFileSync(join(clone, 'package.json'), JSON.stringify(packages['']))
  writeFileSync(join(clone, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages }))
})

function firstStart(environment: NodeJS.ProcessEnv): string {
  const { status, stderr } = spawnSync(process.execPath, [join(clone, 'infra/with-dependencies.mjs'), 'x'], {
    encoding: 'utf8',
    env: { ...process.env, npm_execpath: undefined, npm_config_cache: join(clone, 'cache'), ...environment },
  })
  expect(status).toBe(1)
  return stderr.replace(/^installing .*\n/, '')
}

it('an old Node.js is refused with one line that names the required version', () => {
  const old = preload("Object.defineProperty(process, 'versions', { value: { node: '18.20.8' } })")
  expect(firstStart(old)).toMatch(/^Node\.js 18\.20\.8 is too old: install version 20 or later .+\n$/)
})

it('without a network, the first npm command fails with one line that tells the cause, even with NODE_ENV=production', () => {
  const offline = { npm_config_registry: 'http://127.0.0.1:9', npm_config_fetch_retries: '0' }
  expect(firstStart({ ...offline, NODE_ENV: 'production' })).toMatch(
    /^npm's registry does not answer \(ECONNREFUSED\): connect to the internet .+\n$/,
  )
})

it('on a full disk, the first npm command fails with one line that tells the cause, and the next command installs again', () => {
  // npm exits with 0 although it warns that it could not write files.
  mkdirSync(join(clone, 'node_modules'), { recursive: true })
  writeFileSync(npm, "console.error('npm warn tar TAR_ENTRY_ERROR ENOSPC: no space left on device, write')")
  expect(firstStart({ npm_execpath: npm })).toMatch(/^there is no space left: make 1 GB free for .+\n$/)
  expect(existsSync(join(clone, 'node_modules/.installed-lock.json'))).toBe(false)
})

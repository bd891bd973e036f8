import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startCommand } from '../../support/start-command.ts'

// The test edits a copy of the project, because other tests read the project's own sources.
const copy = mkdtempSync(join(tmpdir(), 'watch-'))
const root = join(import.meta.dirname, '../../..')
let stack: ReturnType<typeof startCommand>
let baseUrl: string

beforeAll(async () => {
  for (const name of [
    'functions',
    'shared',
    'infra',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'cdk.json',
  ])
    cpSync(join(root, name), join(copy, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  const ports = ['--port', '0', '--aws-port', '0', '--page-port', '0']
  stack = startCommand([...ports, '--no-demo', '--watch', '--data', join(copy, 'data')], {}, [
    process.execPath,
    join(copy, 'infra/local/start.ts'),
  ])
  baseUrl = await stack.ready
})
afterAll(async () => {
  await stack.signal('SIGTERM')
  rmSync(copy, { recursive: true, force: true })
})

/** Replaces a text in a source file of the copied project. */
function edit(file: string, before: string, after: string): void {
  const source = readFileSync(join(copy, file), 'utf8')
  expect(source).toContain(before)
  writeFileSync(join(copy, file), source.replace(before, after))
}

const get = async (path: string) => (await (await fetch(baseUrl + path)).json()) as Record<string, unknown>
const getNowhere = () => get('/nowhere')
const reloads = () => stack.output.error.match(/^reloaded .*$/gm) ?? []

it('a changed function is served within two seconds, and no other is reloaded', async () => {
  expect(await getNowhere()).toMatchObject({ code: 40400 })
  const savedAt = Date.now()
  edit('functions/fallback.ts', "'no_route'", "'not_found'")
  await expect.poll(getNowhere, { timeout: 10_000, interval: 20 }).toMatchObject({ code: 40401 })
  expect(Date.now() - savedAt).toBeLessThan(2000)
  expect(reloads()).toEqual([expect.stringMatching(/^reloaded in \d\.\d\d s: fallback$/)])
})

it('a function with a syntax error keeps its running code until the error is corrected', async () => {
  edit('functions/fallback.ts', 'export const handler =', 'export const handler = = ')
  await expect.poll(() => stack.output.error, { timeout: 10_000 }).toContain('keep the code that they have')
  const lines = readFileSync(join(copy, 'functions/fallback.ts'), 'utf8').split('\n')
  const broken = lines.findIndex((line) => line.includes('= = ')) + 1
  expect(stack.output.error).toContain(`functions/fallback.ts:${broken}:`)
  expect(await getNowhere()).toMatchObject({ code: 40401 })
  edit('functions/fallback.ts', 'export const handler = = ', 'export const handler =')
  edit('functions/fallback.ts', "'not_found'", "'no_route'")
  await expect.poll(getNowhere, { timeout: 10_000 }).toMatchObject({ code: 40400 })
})

it('a changed file under shared/ reaches the functions that use it, and the stack keeps its data', async () => {
  const { keys } = await get('/.well-known/jwks.json')
  edit('shared/errors.ts', 'there is nothing at this address', 'nobody lives here')
  await expect.poll(getNowhere, { timeout: 20_000 }).toMatchObject({ msg: 'nobody lives here' })
  expect(reloads().at(-1)).toContain('jwks')
  expect(await get('/.well-known/jwks.json')).toMatchObject({ keys })
})

it('after a change under infra/, the local stack says that it needs a restart', async () => {
  edit('infra/config.ts', 'import', '// changed\nimport')
  await expect.poll(() => stack.output.error).toContain('infra/config.ts changed: restart to apply it')
})

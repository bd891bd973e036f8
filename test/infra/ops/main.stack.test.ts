import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify, stripVTControlCharacters } from 'node:util'
import { expect, it } from 'vitest'
import { useLocalStack } from '../../support/local-stack.ts'

const command = join(import.meta.dirname, '../../../infra/ops/ops')

it('infra/ops/ops … --json prints JSON and nothing else', async () => {
  const { base_url: url } = await useLocalStack()
  const { stdout, stderr } = await promisify(execFile)(command, ['keys', 'status', '--url', url, '--json'])
  expect(JSON.parse(stdout)).toMatchObject({ keys: [{ state: 'active' }] })
  expect(stderr).toBe('')
})

it('infra/ops/ops needs no credentials for the local stack: empty ones count as none', async () => {
  const { base_url: url } = await useLocalStack()
  const env = { ...process.env, AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' }
  const { stdout } = await promisify(execFile)(command, ['keys', 'status', '--url', url], { env })
  expect(stdout).toMatch(/^A key signs/)
})

it('infra/ops/ops exits with the exit code of the command: 2 for wrong usage', async () => {
  await expect(promisify(execFile)(command, ['nonsense', '--json'])).rejects.toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('nonsense') as string,
  })
})

it('infra/ops/ops prints no error when the reader closes the pipe early', async () => {
  const { stderr } = await promisify(execFile)('sh', ['-c', '"$0" --help | true', command])
  expect(stderr).toBe('')
})

it('infra/ops/ops prints colours and marks into a pipe only if FORCE_COLOR is set', async () => {
  const { base_url: url } = await useLocalStack()
  const verdictWith = async (variables: Record<string, string>) => {
    const env = { ...process.env, FORCE_COLOR: undefined, NO_COLOR: undefined, ...variables }
    const { stdout } = await promisify(execFile)(command, ['keys', 'status', '--url', url], { env })
    return stdout.slice(0, stdout.indexOf('\n'))
  }
  expect(await verdictWith({})).toMatch(/^A key signs; the next step is due .+ min$|^A key signs; .+ [hs]$/)
  const verdict = await verdictWith({ FORCE_COLOR: '1' })
  expect(verdict).toContain('\u001b[')
  expect(stripVTControlCharacters(verdict)).toMatch(/^✔ A key signs; /)
})

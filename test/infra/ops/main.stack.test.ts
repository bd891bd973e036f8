import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { useLocalStack } from '../../support/local-stack.ts'

const command = join(import.meta.dirname, '../../../infra/ops/ops')

it('infra/ops/ops … --json prints JSON and nothing else', async () => {
  const { base_url: url } = await useLocalStack()
  const { stdout, stderr } = await promisify(execFile)(command, ['keys', 'status', '--url', url, '--json'])
  expect(JSON.parse(stdout)).toMatchObject({ keys: [{ state: 'active' }] })
  expect(stderr).toBe('')
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

import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeDirectory } from './make-directory.ts'
import { stackModel, startStack } from './stack.ts'

test('the data files of the AWS endpoint are readable by their owner only', async () => {
  const directory = makeDirectory()
  await startStack(stackModel(), { dataDirectory: directory })
  const files = readdirSync(directory)
  expect(files).toContain('aws.sqlite')
  for (const file of files) expect(statSync(join(directory, file)).mode & 0o777, file).toBe(0o600)
})

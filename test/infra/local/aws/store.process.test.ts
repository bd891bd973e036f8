import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newDirectory } from '../../../support/new-directory.ts'
import { stackModel, startStack } from './stack.ts'

const directory = newDirectory()

test('the data files of the AWS endpoint are readable by their owner only', async () => {
  await startStack(stackModel(), { dataDirectory: directory })
  const files = readdirSync(directory)
  expect(files).toContain('aws.sqlite')
  for (const file of files) expect(statSync(join(directory, file)).mode & 0o777, file).toBe(0o600)
})

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { lockDataDirectory } from '../../../infra/local/lock.ts'
import { newDirectory } from '../../support/new-directory.ts'

const root = newDirectory()
it('the lock on a data directory is released when the process that holds it is killed', async () => {
  const directory = join(root, 'killed')
  const script = `
    const { lockDataDirectory } = await import(${JSON.stringify(join(import.meta.dirname, '../../../infra/local/lock.ts'))})
    globalThis.release = lockDataDirectory(${JSON.stringify(directory)})
    console.log('locked')
    setInterval(() => undefined, 1000)`
  const holder = spawn(process.execPath, ['--input-type=module', '-e', script])
  await once(holder.stdout, 'data')
  expect(() => lockDataDirectory(directory)).toThrow('another local stack')
  const ended = once(holder, 'exit')
  holder.kill('SIGKILL')
  await ended
  lockDataDirectory(directory)()
})

import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { lockDataDirectory } from '../../../infra/local/lock.ts'

const module = join(import.meta.dirname, '../../../infra/local/lock.ts')
const root = mkdtempSync(join(tmpdir(), 'lock-'))
const parents: ChildProcess[] = []
afterEach(() => {
  for (const parent of parents.splice(0)) parent.kill('SIGKILL')
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

/**
 * Locks a directory in another process whose parent never collects its exit code, so it becomes a zombie when
 * killed.
 */
async function lockInOrphanage(directory: string): Promise<number> {
  const script = `
    const { lockDataDirectory } = await import(${JSON.stringify(module)})
    lockDataDirectory(${JSON.stringify(directory)})
    console.log('locked')
    setInterval(() => undefined, 1000)`
  const parent = spawn('sh', [
    '-c',
    '"$0" --input-type=module -e "$1" & exec sleep 60',
    process.execPath,
    script,
  ])
  parents.push(parent)
  await new Promise((resolve) => parent.stdout.once('data', resolve))
  return Number(readFileSync(join(directory, 'lock'), 'utf8').split(' ')[0])
}

describe('the lock of a data directory', () => {
  it('the lock of a data directory keeps a second stack out until the first one releases it', () => {
    const directory = join(root, 'released')
    const release = lockDataDirectory(directory)
    expect(() => lockDataDirectory(directory)).toThrow(
      `another local stack (process ${process.pid}) uses ${directory}: stop it, or start with another --data DIR`,
    )
    release()
    lockDataDirectory(directory)()
  })

  it.each(['', 'nonsense', '999999 1', `${process.pid} 1`])(
    'a data directory’s lock file with the stale content "%s" is replaced',
    (stale) => {
      const directory = mkdtempSync(join(root, 'stale-'))
      writeFileSync(join(directory, 'lock'), stale)
      lockDataDirectory(directory)()
    },
  )

  it.runIf(process.platform === 'linux')(
    'a data directory’s lock whose holder is a zombie process is replaced',
    async () => {
      const directory = join(root, 'zombie')
      const pid = await lockInOrphanage(directory)
      expect(() => lockDataDirectory(directory)).toThrow(`another local stack (process ${pid})`)
      process.kill(pid, 'SIGKILL')
      await expect.poll(() => readFileSync(`/proc/${pid}/stat`, 'utf8')).toMatch(/^\d+ \(.+\) Z /)
      lockDataDirectory(directory)()
    },
  )
})

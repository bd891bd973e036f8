import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartupError } from './startup-error.ts'

/** Maximum attempts to take the lock. A stale lock, or one being released, costs one attempt. */
const maxAttempts = 3

/**
 * Locks a data directory for this process, and returns a function that releases it. Replaces the lock of a
 * process that has ended. Throws a `StartupError` if another running process holds the lock.
 */
export function lockDataDirectory(directory: string): () => void {
  mkdirSync(directory, { recursive: true })
  const file = join(directory, 'lock')
  const own = identifyProcess(process.pid) ?? String(process.pid)
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    if (createFile(file, own)) {
      const release = () => {
        if (readIfPresent(file) === own) rmSync(file, { force: true })
      }
      process.once('exit', release)
      return () => {
        process.off('exit', release)
        release()
      }
    }
    const holder = readIfPresent(file)
    if (holder === undefined) continue
    const pid = Number(holder.split(' ')[0])
    if (identifyProcess(pid) === holder)
      throw new StartupError(
        `another local stack (process ${pid}) uses ${directory}: stop it, or start with another --data DIR`,
      )
    rmSync(file, { force: true })
  }
  throw new StartupError(`${directory} is being taken by another local stack: try again`)
}

function createFile(file: string, text: string): boolean {
  try {
    writeFileSync(file, text, { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

/** Identifies a process as `PID STARTED` on Linux (ids are reused), elsewhere `PID`; undefined if ended. */
function identifyProcess(pid: number): string | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM means that the process runs, but belongs to another user.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return undefined
  }
  const stat = readIfPresent(`/proc/${pid}/stat`)
  if (stat === undefined) return String(pid)
  // Format of /proc/PID/stat (proc(5)): `PID (COMMAND) STATE …`, with the start time in field 22. COMMAND may
  // contain spaces and parentheses.
  const [state = '', ...later] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  // A zombie (Z) has ended, although its parent has not collected its exit code yet, and may never do so.
  return ['Z', 'X'].includes(state) ? undefined : `${pid} ${later[18] ?? ''}`
}

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartupError } from './startup-error.ts'

/**
 * Takes a data directory for this process alone, and returns how to give it back. What a process that no longer
 * runs has left is taken over. Throws a `StartupError` when another process that runs holds it.
 */
export function lockDataDirectory(directory: string): () => void {
  mkdirSync(directory, { recursive: true })
  const file = join(directory, 'lock')
  const own = describeProcess(process.pid)
  // Once more after a stale lock was removed, and once when its owner removed it between our two looks.
  for (let attempt = 0; attempt < 3; attempt += 1) {
    if (writeNew(file, own)) {
      const release = () => {
        if (readIfThere(file) === own) rmSync(file, { force: true })
      }
      process.once('exit', release)
      return () => {
        process.off('exit', release)
        release()
      }
    }
    const holder = readIfThere(file)
    if (holder === undefined) continue
    const pid = Number(holder.split(' ')[0])
    if (isRunning(pid) && describeProcess(pid) === holder)
      throw new StartupError(
        `another local stack (process ${pid}) uses ${directory}: stop it, or start with another --data DIR`,
      )
    rmSync(file, { force: true })
  }
  throw new StartupError(`${directory} is being taken by another local stack: try again`)
}

function writeNew(file: string, text: string): boolean {
  try {
    writeFileSync(file, text, { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function isRunning(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // A process of somebody else: it runs.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

// Process ids come round again. Where the system tells when a process began, that is part of its name.
function describeProcess(pid: number): string {
  const stat = readIfThere(`/proc/${pid}/stat`)
  const startedAt = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  return startedAt === undefined ? String(pid) : `${pid} ${startedAt}`
}

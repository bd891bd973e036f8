import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Gives processes a share of one processor, as Lambda does by the memory of a function. */
export interface CpuQuota {
  /** How it is done. */
  kind: string
  /** Holds a process to this share of a processor until `release`. */
  limit: (pid: number, share: number) => Limit
  close: () => void
}

/** The limit of one process. */
export interface Limit {
  release: () => void
}

const root = '/sys/fs/cgroup'
/** The period in which a share is used up, as that of Lambda's own quota. */
const periodMicroseconds = 20_000

/**
 * Opens the best quota that this machine allows: control groups of version 2 or 1, or else stopping and
 * continuing.
 */
export const openCpuQuota = (): CpuQuota => openVersion2() ?? openVersion1() ?? dutyCycle

function openVersion2(): CpuQuota | undefined {
  if (!existsSync(join(root, 'cgroup.controllers'))) return undefined
  return openGroup('control group, version 2', join(root, `bench-${process.pid}`), (directory, quota) => {
    writeFileSync(join(directory, 'cpu.max'), `${quota} ${periodMicroseconds}`)
  })
}

function openVersion1(): CpuQuota | undefined {
  if (!existsSync(join(root, 'cpu', 'cpu.cfs_quota_us'))) return undefined
  return openGroup(
    'control group, version 1',
    join(root, 'cpu', `bench-${process.pid}`),
    (directory, quota) => {
      writeFileSync(join(directory, 'cpu.cfs_period_us'), String(periodMicroseconds))
      writeFileSync(join(directory, 'cpu.cfs_quota_us'), String(quota))
    },
  )
}

/** Opens a control group for one process at a time; undefined if this process may not make one. */
function openGroup(
  kind: string,
  directory: string,
  setQuota: (directory: string, microseconds: number) => void,
): CpuQuota | undefined {
  try {
    mkdirSync(directory)
    setQuota(directory, periodMicroseconds)
  } catch {
    if (existsSync(directory)) rmdirSync(directory)
    return undefined
  }
  return {
    kind,
    limit(pid, share) {
      setQuota(directory, Math.round(share * periodMicroseconds))
      writeFileSync(join(directory, 'cgroup.procs'), String(pid))
      return { release: () => undefined }
    },
    close: () => rmdirSync(directory),
  }
}

/**
 * Stops and continues a process, which is coarser than a quota: a stopped process cannot wait for its
 * network.
 */
const dutyCycle: CpuQuota = {
  kind: 'stopping and continuing (no control group may be made here)',
  limit(pid, share) {
    const period = periodMicroseconds / 1000
    let timer: NodeJS.Timeout
    const turn = (signal: 'SIGSTOP' | 'SIGCONT') => {
      process.kill(pid, signal)
      const next = signal === 'SIGSTOP' ? 'SIGCONT' : 'SIGSTOP'
      timer = setTimeout(() => turn(next), signal === 'SIGCONT' ? period * share : period * (1 - share))
    }
    turn('SIGCONT')
    return {
      release() {
        clearTimeout(timer)
        process.kill(pid, 'SIGCONT')
      },
    }
  },
  close: () => undefined,
}

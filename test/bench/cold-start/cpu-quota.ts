import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Limits a process to a share of a processor, as Lambda does by memory. It limits one process at a time. */
export interface CpuQuota {
  /** Limits a process to this share of a processor from now on. */
  limit: (pid: number, share: number) => void
  close: () => void
}

const root = '/sys/fs/cgroup'
/** Length of a quota period in microseconds, as on Lambda: a process gets a new share in each period. */
const period = 20_000

/** Opens a control group of version 2 or 1; undefined if this process is not allowed to create a group. */
export function openCpuQuota(): CpuQuota | undefined {
  const isVersion2 = existsSync(join(root, 'cgroup.controllers'))
  const directory = join(root, isVersion2 ? '' : 'cpu', `bench-${process.pid}`)
  const write = (file: string, value: string | number) => writeFileSync(join(directory, file), String(value))
  const setQuota = (microseconds: number) => {
    if (isVersion2) return write('cpu.max', `${microseconds} ${period}`)
    write('cpu.cfs_period_us', period)
    write('cpu.cfs_quota_us', microseconds)
  }
  try {
    mkdirSync(directory)
    setQuota(period)
  } catch {
    if (existsSync(directory)) rmdirSync(directory)
    return undefined
  }
  return {
    limit(pid, share) {
      setQuota(Math.round(share * period))
      write('cgroup.procs', pid)
    },
    close: () => rmdirSync(directory),
  }
}

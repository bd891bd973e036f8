import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Limits a process to a share of a processor, as Lambda does in proportion to a function's memory. */
export interface CpuQuota {
  limit: (pid: number, share: number) => void
  close: () => void
}

const root = '/sys/fs/cgroup'
/** Period of the processor quota in microseconds, as on Lambda. */
const period = 20_000

/** Creates a control group of Linux (cgroup v2 or v1); undefined if this process may not create one. */
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

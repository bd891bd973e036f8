import { cpus, loadavg, totalmem } from 'node:os'

/** Describes when, where and how the benchmark runs, and how busy the machine is with other work. */
export function describeMachine(samples: number): string {
  const date = new Date().toISOString().slice(0, 16).replace('T', ' ')
  const processor = cpus()[0]?.model.trim() ?? 'an unknown processor'
  const gigabytes = Math.round(totalmem() / 2 ** 30)
  const machine = `${processor}, ${cpus().length} cores, ${gigabytes} GB, Node.js ${process.version}`
  return `${date} UTC, ${machine}, medians of ${samples}, load average ${(loadavg()[0] ?? 0).toFixed(1)}`
}

import { cpus, totalmem } from 'node:os'

/** Describes when and where the benchmark runs. */
export function describeMachine(): string {
  const date = new Date().toISOString().slice(0, 16).replace('T', ' ')
  const processor = cpus()[0]?.model.trim() ?? 'an unknown processor'
  const gigabytes = Math.round(totalmem() / 2 ** 30)
  return `${date} UTC, ${processor}, ${cpus().length} cores, ${gigabytes} GB, Node.js ${process.version}`
}

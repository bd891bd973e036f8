import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'

/** Memory of a process at an instant, in MB. */
export interface MemorySample {
  minute: number
  process: string
  megabytes: number
}

/**
 * Measures the resident memory of a process and of all that it has started, from /proc. Empty where there is
 * none.
 */
export function sampleMemory(pid: number, minute: number): MemorySample[] {
  return listDescendants(pid).flatMap((process) => {
    const status = readProcess(process, 'status')
    const kilobytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0)
    return kilobytes === 0 ? [] : [{ minute, process: nameOf(process), megabytes: kilobytes / 1024 }]
  })
}

/** The name of a process's program, or of the file that it runs. */
function nameOf(pid: number): string {
  const words = readProcess(pid, 'cmdline').split('\0')
  const file = words.find((word) => /\.(ts|mjs|jar)$/.test(word)) ?? words[0] ?? ''
  return `${basename(file)} (${pid})`
}

function listDescendants(pid: number): number[] {
  if (!existsSync('/proc/self/stat')) return []
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
  const parents = new Map(all.map((each) => [each, parentOf(each)]))
  const family = [pid]
  for (const known of family) family.push(...all.filter((each) => parents.get(each) === known))
  return family
}

// The name of a process, in parentheses, may hold spaces.
const parentOf = (pid: number): number => Number(readProcess(pid, 'stat').split(') ').at(-1)?.split(' ')[1])

/** Reads a file of a process; empty if it has ended meanwhile. */
function readProcess(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}

/** How the memory of a process went: its mean in the second minute and in the last. */
export interface MemoryTrend {
  process: string
  second: number
  last: number
}

/** Compares the second minute with the last, for every process that was there in both. */
export function compareMinutes(samples: readonly MemorySample[]): MemoryTrend[] {
  const lastMinute = Math.max(...samples.map(({ minute }) => minute))
  const mean = (process: string, minute: number) => {
    const own = samples.filter((sample) => sample.process === process && sample.minute === minute)
    return own.reduce((sum, { megabytes }) => sum + megabytes, 0) / own.length
  }
  return [...new Set(samples.map(({ process }) => process))]
    .map((process) => ({ process, second: mean(process, 2), last: mean(process, lastMinute) }))
    .filter(({ second, last }) => !Number.isNaN(second) && !Number.isNaN(last))
}

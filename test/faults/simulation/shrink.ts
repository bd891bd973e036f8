import type { History } from './history.ts'

/**
 * Looks for a shorter history that still fails. Tries to remove half of the operations at a time, then a
 * quarter, down to single operations. Calls `fails`, which runs a simulation, at most `maxRuns` times.
 */
export async function shrink(
  history: History,
  fails: (history: History) => Promise<boolean>,
  maxRuns = 60,
): Promise<History> {
  let smallest = history
  let runs = 0
  for (let size = Math.ceil(history.operations.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let start = 0; start < smallest.operations.length;) {
      const rest = smallest.operations.filter((_, i) => i < start || i >= start + size)
      const candidate = { ...smallest, operations: rest }
      const isChecked = rest.at(-1)?.kind === 'quiet'
      if (runs === maxRuns) return smallest
      if (isChecked) runs += 1
      if (isChecked && (await fails(candidate))) smallest = candidate
      else start += size
    }
  }
  return smallest
}

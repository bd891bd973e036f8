import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Options } from '../part.ts'
import { installPackages } from '../peers/install-packages.ts'
import { round, type Table } from '../report/table.ts'
import type { LoadResult } from './run-load.ts'
import { outerEnvironment } from '../support/outer-environment.ts'

/** Loads endpoints of the local stack over HTTP, which tells only how they compare: part 6. */
export async function measureLoad({ samples, say }: Options): Promise<Table[]> {
  const table: Table = {
    name: 'load',
    title: 'Load on the local stack: endpoint to endpoint only',
    notes: [
      `Medians of ${samples} seconds each, interleaved, four connections. The local stack is no Lambda: compare the`,
      'ratios of one release with those of another, and nothing else.',
    ],
    rows: [{ endpoint: 'autocannon: absent' }],
  }
  const modules = await installPackages(['autocannon'], say)
  if (modules === undefined) return [table]
  const child = fork(join(import.meta.dirname, 'run-load.ts'), [modules, String(samples)], {
    env: outerEnvironment(),
    execArgv: [],
  })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the load ended with ${String(code)}`)
  })
  ended.catch(() => undefined)
  const [results] = (await Promise.race([once(child, 'message'), ended])) as [LoadResult[]]
  const base = results[0]?.milliseconds ?? Number.NaN
  const rows = results.map(({ name, milliseconds, perSecond }) => ({
    endpoint: name,
    'median ms': round(milliseconds, 3),
    'per second': round(perSecond, 3),
    '× the first': round(milliseconds / base, 3),
  }))
  return [{ ...table, rows }]
}

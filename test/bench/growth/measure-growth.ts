import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Options } from '../part.ts'
import { type Row, round, type Table } from '../report/table.ts'
import { outerEnvironment } from '../support/outer-environment.ts'

const pages = ['first', 'middle', 'last']

/** Measures how the cost of pages grows with a wallet: part 4. */
export async function measureGrowth({ short, say }: Options): Promise<Table[]> {
  const sizes = short ? [1_000] : [1_000, 100_000, 1_000_000]
  say(`wallets of ${sizes.join(', ')} bills`)
  const bills = await runScript('ledger-pages.ts', sizes.map(String))
  const members: Row[] = []
  for (const size of sizes) {
    say(`a downline of ${size} members`)
    members.push(...(await runScript('search.ts', [String(size)])))
  }
  const treeSizes = short ? [3_000] : [3_000, 20_000]
  const trees: Row[] = []
  for (const size of treeSizes) {
    say(`a tree of ${size} members that grows`)
    trees.push(...(await runScript('tree-growth.ts', [String(size)])))
  }
  return [
    {
      name: 'growth-tree',
      title: 'How fast the tree of one root grows',
      notes: [
        'Computed from the rounds of calls of one worker, at 5 ms a round, with the maintenance of search indexes.',
        'A partition takes 1,000 write units a second. Entries of the journal are in its shards, as in a fast tree.',
      ],
      rows: trees,
    },
    {
      name: 'growth-bills',
      title: 'Pages of bills as a wallet grows',
      notes: [
        'The dearest of the first, middle and last page, by rounds of calls after one another and read units.',
        'Times and processor time against DynamoDB Local.',
      ],
      rows: besideSmallest(dearestPages(bills), 'bills'),
    },
    {
      name: 'growth-members',
      title: 'Pages and searches of members as a downline grows',
      notes: [
        'Ten million: computed from the capacity of a node of the counted B-tree, with dates at both ends.',
        'DynamoDB is a process that answers after 5 ms; units by the sizes of the items. Searches are warm.',
      ],
      rows: [...besideSmallest(members, 'members'), await computeFor(10_000_000)],
    },
  ]
}

/**
 * Adds how many times the read units of the smallest size a row has; sizes are the first words of its name.
 */
function besideSmallest(rows: readonly Row[], column: 'bills' | 'members'): Row[] {
  const queryOf = (row: Row) => String(row[column]).replace(/^[\d,]+, /, '')
  return rows.map((row) => {
    const smallest = rows.find((other) => queryOf(other) === queryOf(row))
    if (row['read units'] === undefined) return row
    return { ...row, '× smallest': round(Number(row['read units']) / Number(smallest?.['read units']), 3) }
  })
}

/** The dearest page of a downline that is too large to be generated. */
async function computeFor(members: number): Promise<Row> {
  // Loaded only now, because it loads modules of shared/, which read their environment when they load.
  const { pageUnits } = await import('../support/page-units.ts')
  const { roundsAfterSession, readUnits } = pageUnits(members)
  return {
    members: `${members.toLocaleString('en-US')}, dearest page`,
    rounds: roundsAfterSession,
    'read units': readUnits,
  }
}

/**
 * Runs a measurement in a process of its own, because it has a table of its own, and resolves with its
 * rows.
 */
async function runScript(name: string, args: readonly string[]): Promise<Row[]> {
  const child = fork(join(import.meta.dirname, '..', name), args, {
    env: outerEnvironment(),
    execArgv: [],
    silent: true,
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-4000)))
  const rows: Row[] = []
  child.on('message', (message) => rows.push(...(message as Row[])))
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`${name} failed: ${said}`)
  return rows
}

/** Joins the pages of one size, filter and period into a row with the dearest of each figure. */
function dearestPages(rows: readonly Row[]): Row[] {
  const groups = Map.groupBy(rows, ({ bills, filter, dates }) => `${bills} ${filter} ${dates}`)
  const columns = ['rounds', 'read units', 'ms', 'CPU ms']
  return [...groups.values()].map((group) => {
    if (group.length !== pages.length) throw new Error('a page was not measured')
    const { bills, filter, dates } = group[0] ?? {}
    const figures = columns.map((column) => [column, Math.max(...group.map((row) => Number(row[column])))])
    return {
      bills: `${Number(bills).toLocaleString('en-US')}, ${filter}, ${dates} dates`,
      ...Object.fromEntries(figures),
    } as Row
  })
}

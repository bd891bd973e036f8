import { join } from 'node:path'
import { FunctionProcess } from '../cold-start/function-process.ts'
import type { BenchStack } from '../stack/start-bench-stack.ts'
import { interleave, median, type Options, type Row, round, type Table } from '../table.ts'
import { startPostgres } from './start-postgres.ts'

interface Page {
  current: number
  size: number
  currency?: string
  businessId?: string
}

/** What a ledger's program does: load bills into a new wallet, read a page, or else post a credit of 1. */
export interface LedgerTask {
  userId: number
  /** Number of bills to load. This service loads fewer if they take longer than five minutes. */
  load?: number
  page?: Page
  /** Whether PostgreSQL posts in one statement. */
  atOnce?: boolean
  /** Whether to count round trips instead of measuring the time. */
  countTrips?: boolean
}

/** What a ledger's program answers, as far as its task asks for it. */
export interface LedgerAnswer {
  milliseconds?: number
  trips?: number
  /** Number of bills that were loaded. */
  bills?: number
  /** Number of pages of 20 bills. */
  pages?: number
}

/** Gives a task to a ledger's program. The answer also has the program's processor time. */
type Ask = (task: LedgerTask) => Promise<Required<LedgerAnswer> & { cpu: number }>

/** Measures pages of bills and postings, in this service's ledger and in PostgreSQL. */
export async function measureLedgers({ short, samples }: Options, stack: BenchStack): Promise<Table[]> {
  const { origin, username } = new URL(stack.dynamodbUrl)
  const { environment } = stack.describe('intake-wallet-adjusted', origin)
  // DynamoDB Local has a database for each access key.
  const own = new FunctionProcess(join(import.meta.dirname, 'own-ledger.ts'), {
    ...environment,
    AWS_ACCESS_KEY_ID: username,
  })
  const postgres = await startPostgres()
  const other =
    postgres.absent === undefined ? new FunctionProcess(postgres.program, postgres.environment) : undefined
  const asks = [own, ...(other === undefined ? [] : [other])].map(askOf)
  try {
    const sizes = short ? [1_000, 20_000] : [1_000, 1_000_000]
    const pages = await measurePages(asks, sizes, samples)
    const postings = await measurePostings(asks, sizes, samples)
    const notes = [
      postgres.absent === undefined
        ? `${postgres.version} with default settings, which write durably to this disk.`
        : `PostgreSQL is absent: ${postgres.absent}.`,
      'Ours: DynamoDB Local, a Java program, in memory. Both are on this machine: add the network to each trip.',
    ]
    return [
      {
        name: 'peer-pages',
        title: 'A page of 20 bills with the number of pages, beside OFFSET',
        notes,
        rows: pages,
      },
      { name: 'peer-postings', title: 'A posting, beside a transaction', notes, rows: postings },
    ]
  } finally {
    await own.end()
    await other?.end()
    if (postgres.absent === undefined) postgres.stop()
  }
}

const askOf =
  (program: FunctionProcess): Ask =>
  async (task) => {
    const { payload, cpu } = await program.run(JSON.stringify(task))
    return { ...(JSON.parse(payload) as Required<LedgerAnswer>), cpu }
  }

const filters: Record<string, Omit<Page, 'current' | 'size'>> = {
  all: {},
  'currency and type': { currency: 'USDT', businessId: 'DEPOSIT' },
}

async function measurePages(asks: Ask[], sizes: number[], samples: number): Promise<Row[]> {
  const [own, ...others] = asks
  const rows: Row[] = []
  for (const userId of sizes) {
    const { bills = 0 } = (await own?.({ userId, load: userId })) ?? {}
    for (const ask of others) await ask({ userId, load: bills })
    for (const [filter, query] of Object.entries(filters)) {
      const pageOf = (current: number) => ({ userId, page: { current, size: 20, ...query } })
      const places = await Promise.all(
        asks.map(async (ask) => {
          const { pages } = await ask({ ...pageOf(1), countTrips: true })
          return { first: 1, middle: Math.ceil(pages / 2), last: pages - 1 }
        }),
      )
      for (const place of ['first', 'middle', 'last'] as const) {
        const candidates = asks.map((ask, i) => ({ ask, task: pageOf(places[i]?.[place] ?? 1) }))
        const trips: number[] = []
        for (const { ask, task } of candidates) trips.push((await ask({ ...task, countTrips: true })).trips)
        await interleave(candidates, 3, ({ ask, task }) => ask(task))
        const measured = await interleave(
          candidates,
          samples,
          async ({ ask, task }) => (await ask(task)).milliseconds,
        )
        const [ours = Number.NaN, theirs] = measured.map(median)
        rows.push({
          page: `${bills.toLocaleString('en-US')}, ${filter}, ${place}`,
          'our trips': trips[0],
          'our ms': round(ours, 3),
          ...(theirs !== undefined && {
            'PostgreSQL trips': trips[1],
            'PostgreSQL ms': round(theirs, 3),
            '× ours': round(theirs / ours, 3),
          }),
        })
      }
    }
  }
  return rows
}

async function measurePostings([own, other]: Ask[], sizes: number[], samples: number): Promise<Row[]> {
  const task: LedgerTask = { userId: Math.max(...sizes) }
  const candidates: { name: string; ask: Ask | undefined; task: LedgerTask }[] = [
    { name: 'this service', ask: own, task },
    { name: 'PostgreSQL, five statements', ask: other, task },
    { name: 'PostgreSQL, one statement', ask: other, task: { ...task, atOnce: true } },
  ]
  const present = candidates.flatMap(({ ask, ...rest }) => (ask === undefined ? [] : [{ ...rest, ask }]))
  const trips: number[] = []
  for (const { ask, task: posting } of present)
    trips.push((await ask({ ...posting, countTrips: true })).trips)
  // Both programs run compiled code only after some calls.
  await interleave(present, 50, ({ ask, task: posting }) => ask(posting))
  const measured = await interleave(present, 10 * samples, ({ ask, task: posting }) => ask(posting))
  return present.map(({ name }, i): Row => {
    const runs = measured[i] ?? []
    return {
      posting: name,
      trips: trips[i],
      ms: round(median(runs.map(({ milliseconds }) => milliseconds)), 3),
      'CPU ms of the caller': round(median(runs.map(({ cpu }) => cpu)), 3),
    }
  })
}

import type { Options } from '../part.ts'
import { interleave, median } from '../report/statistics.ts'
import { type Row, round, type Table } from '../report/table.ts'
import { installPackages } from './install-packages.ts'
import { loadPackage } from './load-package.ts'
import { startCluster } from './postgres-cluster.ts'

/** The part of the package pg that the comparison uses. */
interface Client {
  connect: () => Promise<void>
  query: (text: string, values?: unknown[]) => Promise<{ rows: Record<string, unknown>[] }>
  end: () => Promise<void>
}
interface Pg {
  default: { Client: new (options: object) => Client }
}

const pageSize = 20

const schema = `
  create table accounts (id bigint primary key, balance numeric(38, 18) not null);
  create table transfers (id text primary key, at timestamptz not null default now());
  create table entries (
    id bigint generated always as identity primary key,
    transfer_id text not null,
    account_id bigint not null references accounts,
    amount numeric(38, 18) not null,
    currency text not null,
    type text not null,
    at timestamptz not null default now()
  );
  create index entries_by_account on entries (account_id, id desc);`

/** Measures PostgreSQL: pages by OFFSET with count(*), and a double entry posted in one transaction. */
export async function measurePostgres(options: Options): Promise<Table> {
  const table: Table = {
    name: 'postgres',
    title: 'PostgreSQL: pages by OFFSET with count(*), and double-entry posting',
    notes: [],
    rows: [{ PostgreSQL: 'absent' }],
  }
  const modules = await installPackages(['pg'], options.say)
  const cluster = modules === undefined ? undefined : await startCluster(options)
  if (modules === undefined || cluster === undefined) return table
  const { default: pg } = await loadPackage<Pg>(modules, 'pg')
  const client = new pg.Client({
    host: '127.0.0.1',
    port: cluster.port,
    user: cluster.user,
    database: 'postgres',
  })
  try {
    await client.connect()
    await client.query(schema)
    const sizes = options.short ? [1_000, 100_000] : [1_000, 100_000, 1_000_000]
    const pages = await measurePages(client, sizes, options)
    return {
      ...table,
      notes: [
        `${cluster.version}, with its default settings, on this machine and without a network. Medians of ${options.samples}, interleaved.`,
        'A page is one query for its rows and one for count(*).',
      ],
      rows: [...pages, await measurePosting(client, options.samples)],
    }
  } finally {
    await client.end()
    await cluster.stop()
  }
}

async function measurePages(
  client: Client,
  sizes: readonly number[],
  { samples, say }: Options,
): Promise<Row[]> {
  for (const [account, size] of sizes.entries()) {
    say(`PostgreSQL: ${size} entries`)
    await client.query('insert into accounts values ($1, 0)', [account])
    await client.query(
      `insert into entries (transfer_id, account_id, amount, currency, type)
       select 'load-' || i, $1, 1, 'USDT', 'DEPOSIT' from generate_series(1, $2::int) i`,
      [account, size],
    )
  }
  await client.query('vacuum analyze entries')
  const pages = sizes.flatMap((size, account) =>
    Object.entries({ first: 0, middle: size / 2, last: size - pageSize }).map(([place, offset]) => ({
      account,
      size,
      place,
      offset,
    })),
  )
  const measured = await interleave(pages, samples, async ({ account, offset }) => {
    const startedAt = performance.now()
    await client.query('select * from entries where account_id = $1 order by id desc limit $2 offset $3', [
      account,
      pageSize,
      offset,
    ])
    await client.query('select count(*) from entries where account_id = $1', [account])
    return performance.now() - startedAt
  })
  const smallest = median(measured[0] ?? [])
  return pages.map(({ size, place }, i) => ({
    PostgreSQL: `${place} page of ${size.toLocaleString('en-US')}`,
    ms: round(median(measured[i] ?? []), 3),
    '× first page of 1,000': round(median(measured[i] ?? []) / smallest, 3),
    queries: 2,
  }))
}

async function measurePosting(client: Client, samples: number): Promise<Row> {
  let number = 0
  const post = async () => {
    number += 1
    const id = `post-${number}`
    const entry =
      'insert into entries (transfer_id, account_id, amount, currency, type) values ($1, $2, $3, $4, $5)'
    const startedAt = performance.now()
    await client.query('begin')
    await client.query('insert into transfers (id) values ($1)', [id])
    await client.query('update accounts set balance = balance - $1 where id = 0', ['1.5'])
    await client.query('update accounts set balance = balance + $1 where id = 1', ['1.5'])
    await client.query(entry, [id, 0, '-1.5', 'USDT', 'TRANSFER_OUT'])
    await client.query(entry, [id, 1, '1.5', 'USDT', 'TRANSFER_IN'])
    await client.query('commit')
    return performance.now() - startedAt
  }
  const [measured = []] = await interleave([post], samples, (run) => run())
  return { PostgreSQL: 'a transfer, posted in one transaction', ms: round(median(measured), 3), queries: 7 }
}

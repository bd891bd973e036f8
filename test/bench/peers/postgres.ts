import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findFreePort } from '../../../infra/local/http/bind-server.ts'
import { interleave, median, type Options, type Row, round, type Table } from '../table.ts'
import { installPackages, loadPackage } from './frameworks.ts'

/** The part of the package pg that the comparison uses. */
interface Client {
  connect: () => Promise<void>
  query: (text: string, values?: unknown[]) => Promise<unknown>
  end: () => Promise<void>
}
interface Pg {
  default: { Client: new (options: object) => Client }
}

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
const insertEntry =
  'insert into entries (transfer_id, account_id, amount, currency, type) values ($1, $2, $3, $4, $5)'

/** Measures PostgreSQL, where it is installed: pages by OFFSET with count(*), and double-entry posting. */
export async function measurePostgres({ short, samples }: Options): Promise<Table> {
  const title = 'PostgreSQL: pages by OFFSET with count(*), and double-entry posting'
  const modules = await installPackages('pg')
  const cluster = modules === undefined ? undefined : await startCluster()
  if (modules === undefined || cluster === undefined)
    return { name: 'postgres', title, notes: [], rows: [{ PostgreSQL: 'absent' }] }
  const { default: pg } = await loadPackage<Pg>(modules, 'pg')
  const client = new pg.Client({ ...cluster.address, database: 'postgres' })
  try {
    await client.connect()
    await client.query(schema)
    const sizes = short ? [1_000, 100_000] : [1_000, 100_000, 1_000_000]
    const rows = [...(await measurePages(client, sizes, samples)), await measurePosting(client, samples)]
    const notes = ['With its default settings, on this machine and without a network.']
    return { name: 'postgres', title, notes, rows }
  } finally {
    await client.end()
    cluster.stop()
  }
}

async function measurePages(client: Client, sizes: readonly number[], samples: number): Promise<Row[]> {
  for (const [account, size] of sizes.entries()) {
    await client.query('insert into accounts values ($1, 0)', [account])
    await client.query(
      `insert into entries (transfer_id, account_id, amount, currency, type)
       select 'load-' || i, $1, 1, 'USDT', 'DEPOSIT' from generate_series(1, $2::int) i`,
      [account, size],
    )
  }
  await client.query('vacuum analyze entries')
  const pages = sizes.flatMap((size, account) =>
    Object.entries({ first: 0, middle: size / 2 }).map(([place, offset]) => ({
      account,
      size,
      place,
      offset,
    })),
  )
  const measured = await interleave(pages, samples, async ({ account, offset }) => {
    const startedAt = performance.now()
    const page = 'select * from entries where account_id = $1 order by id desc limit 20 offset $2'
    await client.query(page, [account, offset])
    await client.query('select count(*) from entries where account_id = $1', [account])
    return performance.now() - startedAt
  })
  const medians = measured.map(median)
  return pages.map(({ size, place }, i) => ({
    PostgreSQL: `${place} page of ${size.toLocaleString('en-US')}`,
    ms: round(medians[i] ?? Number.NaN, 3),
    '× first page of 1,000': round((medians[i] ?? Number.NaN) / (medians[0] ?? Number.NaN), 3),
  }))
}

async function measurePosting(client: Client, samples: number): Promise<Row> {
  let number = 0
  const post = async () => {
    const id = `post-${(number += 1)}`
    const startedAt = performance.now()
    await client.query('begin')
    await client.query('insert into transfers (id) values ($1)', [id])
    await client.query('update accounts set balance = balance - 1.5 where id = 0')
    await client.query('update accounts set balance = balance + 1.5 where id = 1')
    await client.query(insertEntry, [id, 0, '-1.5', 'USDT', 'TRANSFER_OUT'])
    await client.query(insertEntry, [id, 1, '1.5', 'USDT', 'TRANSFER_IN'])
    await client.query('commit')
    return performance.now() - startedAt
  }
  const [measured = []] = await interleave([post], samples, (run) => run())
  return { PostgreSQL: 'a transfer, posted in one transaction', ms: round(median(measured), 3) }
}

/** Starts a cluster in a temporary directory; undefined if PostgreSQL is not installed. */
async function startCluster() {
  const programs = [
    ...globSync('/usr/lib/postgresql/*/bin').sort().reverse(),
    '/usr/local/bin',
    '/usr/bin',
  ].find((path) => ['initdb', 'postgres', 'pg_ctl'].every((program) => existsSync(join(path, program))))
  if (programs === undefined) return undefined
  const directory = mkdtempSync(join(tmpdir(), 'bench-postgres-'))
  chmodSync(directory, 0o777)
  // PostgreSQL refuses to run as root.
  const as = process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--'] : []
  const run = (program: string, ...args: string[]) => {
    const [command = '', ...all] = [...as, join(programs, program), '-D', join(directory, 'data'), ...args]
    execFileSync(command, all, { stdio: 'ignore', cwd: directory })
  }
  run('initdb', '-U', 'bench', '-A', 'trust', '--no-locale', '-E', 'UTF8')
  const port = await findFreePort()
  const settings = `-p ${port} -h 127.0.0.1 -k ${directory}`
  run('pg_ctl', 'start', '-w', '-l', join(directory, 'log'), '-o', settings)
  return {
    address: { host: '127.0.0.1', port, user: 'bench' },
    stop() {
      run('pg_ctl', 'stop', '-m', 'immediate')
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

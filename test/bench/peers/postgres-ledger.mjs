// Pages of bills by OFFSET, and postings, in PostgreSQL. The environment names the database.
import { randomUUID } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import pg from 'pg'

const client = new pg.Client()
await client.connect()
let trips = 0
const query = (text, values) => {
  trips += 1
  return client.query(text, values)
}

// Each order and filter that is measured has an index of its own.
await query(`
  create table if not exists balances (
    user_id bigint, wallet text, currency text,
    balance numeric(38, 18) not null check (balance >= 0),
    primary key (user_id, wallet, currency)
  );
  create table if not exists bills (
    number bigint generated always as identity primary key,
    user_id bigint not null, wallet text not null, currency text not null, type text not null,
    amount numeric(38, 18) not null, balance_after numeric(38, 18) not null,
    reference text not null, remark text, created_at timestamptz not null, occurred_at timestamptz not null
  );
  create index if not exists by_wallet on bills (user_id, wallet, number desc);
  create index if not exists by_type on bills (user_id, wallet, currency, type, number desc);
  create table if not exists events (key text primary key, digest text not null, at timestamptz not null)`)

async function load(userId, count) {
  await query(
    `insert into bills (user_id, wallet, currency, type, amount, balance_after, reference, created_at, occurred_at)
     select $1, 'asset', (array['USDT', 'BTC', 'ETH'])[1 + i % 3],
            (array['DEPOSIT', 'TRANSFER_IN', 'ADJUSTMENT_CREDIT', 'PACKAGE_PURCHASE'])[1 + i % 4],
            2.000000000000000001, i, 'bench-' || i, now(), now()
     from generate_series(0, $2::int - 1) i`,
    [userId, count],
  )
  await query(`insert into balances values ($1, 'asset', 'USDT', 1000)`, [userId])
  await client.query('vacuum analyze bills')
}

async function readPage(userId, { current, size, currency = null, businessId = null }) {
  const filter = currency === null ? '' : 'and currency = $2 and type = $3'
  const values = currency === null ? [userId] : [userId, currency, businessId]
  const where = `where user_id = $1 and wallet = 'asset' ${filter}`
  const order = `order by number desc limit ${size} offset ${(current - 1) * size}`
  const { rows: records } = await query(`select * from bills ${where} ${order}`, values)
  const { rows } = await query(`select count(*)::int as total from bills ${where}`, values)
  return { records, total: rows[0].total, pages: Math.ceil(rows[0].total / size) }
}

const credit = `update balances set balance = balance + 1
  where user_id = $1 and wallet = 'asset' and currency = 'USDT'`
const columns = `(user_id, wallet, currency, type, amount, balance_after, reference, remark, created_at, occurred_at)`
const digest = 'a digest of the 43 characters that ours has'

/** Posts a credit as services do with a driver: each statement waits for the one before. */
async function postInTransaction(userId, reference) {
  await query('begin')
  const event = await query('insert into events values ($1, $2, now()) on conflict do nothing', [
    reference,
    digest,
  ])
  if (event.rowCount !== 1) throw new Error('the event is known')
  const { rows } = await query(`${credit} returning balance`, [userId])
  await query(
    `insert into bills ${columns} values ($1, 'asset', 'USDT', 'ADJUSTMENT_CREDIT', 1, $2, $3, 'test', now(), now())`,
    [userId, rows[0].balance, reference],
  )
  await query('commit')
}

/** Posts the same in one statement, which is a transaction by itself. */
async function postAtOnce(userId, reference) {
  const posted = await query(
    `with event as (insert into events values ($2, $3, now()) on conflict do nothing returning key),
       moved as (${credit} and exists (select from event) returning balance)
     insert into bills ${columns}
     select $1, 'asset', 'USDT', 'ADJUSTMENT_CREDIT', 1, balance, $2, 'test', now(), now() from moved`,
    [userId, reference, digest],
  )
  if (posted.rowCount !== 1) throw new Error('the event is known')
}

export const handler = async ({ load: count, userId, page, atOnce }) => {
  if (count !== undefined) {
    await load(userId, count)
    return {}
  }
  trips = 0
  const startedAt = performance.now()
  const result = page
    ? await readPage(userId, page)
    : await (atOnce ? postAtOnce : postInTransaction)(userId, randomUUID())
  return { ...result, milliseconds: performance.now() - startedAt, trips }
}

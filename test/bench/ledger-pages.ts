// Measures the cost of posting a bill and of reading a page of bills, in wallets of growing size:
//   node test/bench/ledger-pages.ts [BILLS…]     by default 1000 100000 1000000
import { BatchWriteCommand, PutCommand } from '@aws-sdk/lib-dynamodb'
import type { Write } from '../../shared/db/write.ts'
import { startBenchTable } from './support/start-bench-table.ts'

const sizes = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1_000, 100_000, 1_000_000]

const table = await startBenchTable()

// Modules of shared/ are imported only now, because they read their environment when they load.
const { dayOf } = await import('../../shared/dates.ts')
const { db } = await import('../../shared/db/table.ts')
const { putUser } = await import('../../shared/users/user.ts')
const { eventRecord } = await import('../../shared/events/event-record.ts')
const { listName, putBill, readBillsPage, readBillsStart } = await import('../../shared/ledger/bill.ts')
const { postTransaction } = await import('../../shared/ledger/post-transaction.ts')
const { applyMovements, newWallet, putWallet, readWallet } = await import('../../shared/ledger/wallet.ts')
const { Big } = await import('../../shared/money.ts')
const { measure } = await import('./support/measure.ts')

const firstAt = Date.UTC(2020, 0, 1)
const currencies = ['USDT', 'BTC', 'ETH']
const types = ['DEPOSIT', 'TRANSFER_IN', 'ADJUSTMENT_CREDIT', 'PACKAGE_PURCHASE'] as const

/** The lists of bills that are filled and measured. A page costs the same in every list. */
const filters = [
  { name: 'all', query: {}, filter: {} },
  {
    name: 'currency and type',
    query: { currency: 'USDT', businessId: 'DEPOSIT' },
    filter: { currency: 'USDT', kind: 'DEPOSIT' as const },
  },
]

type Items = Record<string, unknown>[]

/**
 * Computes six years of bills in memory, and writes only their rows of the measured lists, directly into the
 * table.
 */
async function load(userId: number, size: number): Promise<void> {
  const lists = new Set(filters.map(({ filter }) => listName({ userId, wallet: 'asset' }, filter)))
  const step = Math.floor((6 * 365 * 86_400_000) / size)
  let wallet = { ...newWallet({ userId, wallet: 'asset' }), version: 1 }
  let pending: Items = []
  for (let i = 0; i < size; i += 1) {
    const posting = {
      kind: 'post',
      currency: currencies[i % currencies.length] as string,
      amount: new Big(i % 4 === 3 ? '1' : '2.000000000000000001'),
      type: types[i % types.length] as (typeof types)[number],
      reference: `bench-${i}`,
    } as const
    const moved = applyMovements(wallet, [posting], firstAt + i * step)
    if (moved.rejection !== undefined) throw new Error(moved.rejection)
    wallet = moved.wallet
    pending.push(...itemsOf(moved.bills.flatMap(putBill)).filter(({ pk }) => lists.has(String(pk))))
    if (pending.length >= 400) {
      await writeAll(pending)
      pending = []
    }
  }
  await writeAll([...pending, ...itemsOf([putWallet(wallet), putUser(newUser(userId))])])
}

const itemsOf = (writes: Write[]): Items => writes.map(({ Put }) => Put?.Item ?? {})

const newUser = (userId: number) => ({
  userId,
  email: `${userId}@example.com`,
  nickname: 'bench',
  referrerId: undefined,
  registeredAt: firstAt,
})

async function writeAll(items: Items): Promise<void> {
  const batches = Array.from({ length: Math.ceil(items.length / 25) }, (_, i) =>
    items.slice(i * 25, i * 25 + 25),
  )
  await Promise.all(
    batches.map(async (batch) => {
      const requests = batch.map((Item) => ({ PutRequest: { Item } }))
      const { UnprocessedItems } = await db.send(
        new BatchWriteCommand({ RequestItems: { [table.name]: requests } }),
      )
      for (const { PutRequest } of UnprocessedItems?.[table.name] ?? []) {
        await db.send(new PutCommand({ TableName: table.name, Item: PutRequest?.Item }))
      }
    }),
  )
}

const middleDay = dayOf(firstAt + 3 * 365 * 86_400_000)
const periods = [{}, { beginTime: middleDay }, { beginTime: '2020-02-01', endTime: middleDay }]
const rows: Record<string, unknown>[] = []

for (const [i, size] of sizes.entries()) {
  const userId = i + 1
  const started = performance.now()
  await load(userId, size)
  console.log(`${size} bills loaded in ${Math.round((performance.now() - started) / 1000)} s`)
  for (const { name, query } of filters) {
    for (const period of periods) {
      for (const place of ['first', 'middle', 'last'] as const) {
        rows.push(await measurePage(userId, size, name, { ...query, ...period }, place))
      }
    }
  }
  const { cost } = await measure(() => bookOne(userId))
  console.log(`one more bill: ${cost.rounds} rounds, ${cost.writeUnits} write units, ${cost.milliseconds} ms`)
}
console.table(rows)
process.send?.(rows)
await table.close()

async function measurePage(
  userId: number,
  size: number,
  filter: string,
  query: object,
  place: 'first' | 'middle' | 'last',
): Promise<Record<string, unknown>> {
  const read = (current: number) =>
    measure(async () => {
      const whole = { ...query, current, size: 20 }
      return readBillsPage(whole, await readBillsStart(whole, userId, 'asset'))
    })
  const { pages } = (await read(1)).result
  const current = place === 'first' ? 1 : place === 'middle' ? Math.ceil(pages / 2) : pages
  const { result, cost } = await read(current)
  return {
    bills: size,
    filter,
    dates: Object.keys(query).filter((name) => name.endsWith('Time')).length,
    page: `${place} (${current})`,
    records: result.records.length,
    rounds: cost.rounds,
    'read units': cost.readUnits,
    ms: cost.milliseconds,
    'CPU ms': cost.cpuMilliseconds,
  }
}

async function bookOne(userId: number): Promise<void> {
  const id = { userId, wallet: 'asset' } as const
  const { version } = await readWallet(id)
  await postTransaction({
    record: eventRecord('bench', `${userId}-${version}`, {}),
    wallets: [
      {
        id,
        movements: [
          { kind: 'post', type: 'DEPOSIT', currency: 'USDT', amount: new Big('1'), reference: 'bench' },
        ],
      },
    ],
  })
}

// Measures the cost of posting a bill and of reading a page of bills, in wallets of growing size:
//   node test/bench/ledger-pages.ts [BILLS…]     by default 1000 100000 1000000
import { startBenchTable } from './support/start-bench-table.ts'

const sizes = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1_000, 100_000, 1_000_000]

const table = await startBenchTable()

// Modules of shared/ are imported only now, because they read their environment when they load.
const { dayOf } = await import('../../shared/dates.ts')
const { readBillsPage, readBillsStart } = await import('../../shared/ledger/page/page.ts')
const { firstAt, loadBills, postBill } = await import('./support/load-bills.ts')
const { measure } = await import('./support/measure.ts')
const { countWriteUnits } = await import('./support/write-units.ts')

const filters: { name: string; query: object }[] = [
  { name: 'all', query: {} },
  { name: 'debits', query: { amountDirection: 2 } },
  { name: 'currency and type', query: { currency: 'USDT', businessId: 'DEPOSIT' } },
  { name: '1 of 150', query: { currency: 'XRP' } },
  { name: '1 of 5,000', query: { currency: 'DOGE' } },
]

const middleDay = dayOf(firstAt + 3 * 365 * 86_400_000)
const periods = [{}, { beginTime: middleDay }, { beginTime: '2020-02-01', endTime: middleDay }]
const rows: Record<string, unknown>[] = []

for (const [i, size] of sizes.entries()) {
  const userId = i + 1
  const started = performance.now()
  await loadBills(userId, size)
  console.log(`${size} bills loaded in ${Math.round((performance.now() - started) / 1000)} s`)
  for (const { name, query } of filters) {
    for (const period of periods) {
      for (const place of ['first', 'middle', 'last'] as const) {
        rows.push(await measurePage(userId, size, name, { ...query, ...period }, place))
      }
    }
  }
  const postings = 640
  const units = await countWriteUnits(async () => {
    for (let i = 0; i < postings; i += 1) await postBill(userId, i)
  })
  console.log(`one more bill: ${units / postings} write units, on average of ${postings}`)
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

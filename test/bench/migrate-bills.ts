// Rehearses `ledger migrate`: kills a migration of one wallet ten times, while bills are posted, and verifies
// it. The table is that of TABLE_NAME if a parent set it, else of an own DynamoDB Local:
//   node test/bench/migrate-bills.ts [BILLS]     by default 1000000
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { startBenchTable } from './support/start-bench-table.ts'

const isChild = process.send !== undefined
const size = Number(process.argv[2] ?? 1_000_000)
const userId = 1
const id = { userId, wallet: 'asset' } as const
const kills = 10

if (isChild) await migrate()
else await rehearse()

/** The part that is killed. */
async function migrate(): Promise<void> {
  const { migrateLedger } = await import('../../infra/ops/migrate-ledger.ts')
  await migrateLedger([id], () => undefined, 0)
  process.disconnect()
}

async function rehearse(): Promise<void> {
  const table = await startBenchTable()
  const { loadBills, postBill } = await import('./support/load-bills.ts')
  const { verifyWallet } = await import('../../shared/ledger/verify-wallet.ts')
  const { readBillsPage, readBillsStart } = await import('../../shared/ledger/bill-page.ts')
  const { stringifyExact } = await import('../../shared/stringify-exact.ts')
  const query = { currency: 'USDT', amountDirection: 1 as const, endTime: '2021-06-30', current: 3, size: 20 }
  const readPage = async () =>
    stringifyExact(await readBillsPage(query, await readBillsStart(query, userId, 'asset')))
  const clock = performance.now()
  const say = (text: string) => console.log(`${Math.round((performance.now() - clock) / 1000)} s: ${text}`)
  await loadBills(userId, size, { lists: true })
  say(`${size} bills loaded`)
  const expected = await readPage()
  let posted = 0
  for (let attempt = 1; ; attempt += 1) {
    const child = fork(import.meta.filename, [String(size)])
    const exited = once(child, 'exit') as Promise<[number | null]>
    const killed = attempt <= kills && wait((size / 20) * Math.random()).then(() => child.kill('SIGKILL'))
    const [code] = await exited
    await killed
    for (; posted < attempt * 3; posted += 1) await postBill(userId, posted)
    if ((await readPage()) !== expected) throw new Error('a page differs')
    say(`attempt ${attempt} ended with ${code ?? 'a kill'}`)
    if (code === 0) break
  }
  const { bills, differences } = await verifyWallet(id)
  say(`${bills} bills verified, ${posted} posted meanwhile, ${differences.length} differences`)
  await table.close()
}

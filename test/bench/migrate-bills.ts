// Rehearses `ledger migrate`: kills a migration ten times, while bills are posted, and verifies it. The table
// is that of TABLE_NAME if a parent set it, else of an own DynamoDB Local, whose data is in TMPDIR: a million
// bills with their lists are 6 GB, and much quicker on a file system in memory:
//   TMPDIR=/dev/shm node test/bench/migrate-bills.ts [BILLS [WALLETS]]     by default 1000000 of one wallet
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { startBenchTable } from './support/start-bench-table.ts'

const isChild = process.send !== undefined
const [size = 1_000_000, wallets = 1] = process.argv.slice(2).map(Number)
const userIds = Array.from({ length: wallets }, (_, i) => i + 1)
const kills = 10

if (isChild) await migrate()
else await rehearse()

/** The part that is killed. */
async function migrate(): Promise<void> {
  const { migrateLedger } = await import('../../infra/ops/migrate-ledger.ts')
  const ids = userIds.map((userId) => ({ userId, wallet: 'asset' }) as const)
  await migrateLedger(ids, () => undefined, 0)
  process.disconnect()
}

async function rehearse(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'migrate-bills-'))
  const table = await startBenchTable(directory)
  const { loadBills, postBill } = await import('./support/load-bills.ts')
  const { verifyWallet } = await import('../../shared/ledger/verify-wallet.ts')
  const { readBillsPage, readBillsStart } = await import('../../shared/ledger/bill-page.ts')
  const { stringifyExact } = await import('../../shared/stringify-exact.ts')
  const query = { currency: 'USDT', amountDirection: 1 as const, endTime: '2021-06-30', current: 3, size: 20 }
  const readPages = async () => {
    const pages: unknown[] = []
    for (const userId of userIds)
      pages.push(await readBillsPage(query, await readBillsStart(query, userId, 'asset')))
    return stringifyExact(pages)
  }
  const clock = performance.now()
  const say = (text: string) => console.log(`${Math.round((performance.now() - clock) / 1000)} s: ${text}`)
  for (const userId of userIds) {
    await loadBills(userId, size / wallets, { lists: true })
    say(`${(size / wallets) * userId} bills loaded`)
  }
  const expected = await readPages()
  let posted = 0
  for (let attempt = 1; ; attempt += 1) {
    const child = fork(import.meta.filename, [String(size), String(wallets)])
    const exited = once(child, 'exit') as Promise<[number | null]>
    const killed = attempt <= kills && wait((size / 20) * Math.random()).then(() => child.kill('SIGKILL'))
    const [code] = await exited
    await killed
    if (code !== null && code !== 0) throw new Error(`attempt ${attempt} failed by itself`)
    for (; posted < attempt * 3; posted += 1) await postBill(userIds[posted % wallets] ?? 1, posted)
    if ((await readPages()) !== expected) throw new Error('a page differs')
    say(`attempt ${attempt} ended with ${code ?? 'a kill'}`)
    if (code === 0) break
  }
  let [verified, differing] = [0, 0]
  for (const userId of userIds) {
    const { bills, differences } = await verifyWallet({ userId, wallet: 'asset' })
    verified += bills
    differing += differences.length
  }
  say(`${verified} bills verified, ${posted} posted meanwhile, ${differing} differences`)
  await table.close()
  rmSync(directory, { recursive: true })
}

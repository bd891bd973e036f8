import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { handler as walletAdjusted } from '../../../functions/intake/wallet.adjusted.ts'
import { handler, type VerificationReport } from '../../../functions/schedule/verify-ledger.ts'
import { registerShards } from '../../../shared/ledger/wallet.ts'
import { deliver } from '../../support/deliver.ts'
import { emittedMetrics } from '../../support/emitted-metrics.ts'
import { addUser, adjustment } from '../../support/ledger.ts'
import { useOwnTable } from '../../support/own-table.ts'
import { tamperCalls } from '../../support/tamper-calls.ts'

const day = 86_400_000
const turn = 300_000
const turnOfEach = registerShards * turn

let dropTable = async () => {}
// The first of the 16 slices of wallets is verified at this time. This slice gets twenty wallets, more than
// two batches of eight. The minute is added because writes pause at full hours.
let now = Math.floor(Date.now() / day) * day + turnOfEach + 60_000

beforeAll(async () => {
  dropTable = await useOwnTable()
  vi.spyOn(Date, 'now').mockImplementation(() => now)
  for (let user = 1; user <= 4; user += 1) await addWallet(user)
  for (let user = 1; user <= 20; user += 1) await addWallet(user * registerShards)
})
beforeEach(() => {
  now += day
  vi.spyOn(Date, 'now').mockImplementation(() => now)
})
afterAll(() => dropTable())

async function addWallet(userId: number): Promise<void> {
  await deliver(walletAdjusted, adjustment(await addUser(userId)))
}

/** Runs verify-ledger, and lets its time run out after `batches` batches of eight wallets. */
function runFor(batches: number): Promise<VerificationReport> {
  let left = batches
  return handler({}, { awsRequestId: 'test', getRemainingTimeInMillis: () => (left-- > 0 ? 900_000 : 0) })
}

async function runEach(): Promise<number> {
  let wallets = 0
  for (let run = 1; run <= registerShards; run += 1) {
    wallets += (await runFor(Infinity)).wallets
    now += turn
  }
  return wallets
}

it('sixteen runs, one every five minutes, verify every wallet once a day', async () => {
  expect([await runEach(), await runEach()]).toEqual([24, 0])
  now += day - 2 * turnOfEach - 1
  expect(await runFor(Infinity)).toMatchObject({ wallets: 0 })
  now += 1
  expect(await runEach()).toBe(24)
  now -= turnOfEach
})

it('a verification run without time left is continued after the last verified wallet', async () => {
  const verified = []
  for (const batches of [1, 1, Infinity, Infinity]) verified.push((await runFor(batches)).wallets)
  expect(verified).toEqual([8, 8, 4, 0])
})

it('a verification run emits the age of the oldest verification and the number of differences', async () => {
  await runEach()
  now += day - turnOfEach
  expect((await emittedMetrics(() => runFor(1))).map(({ name, value }) => [name, value])).toEqual([
    ['LedgerVerificationAge', day / 1000],
    ['LedgerDifferences', 0],
  ])
  now += 3 * day
  const later = await emittedMetrics(() => runFor(Infinity))
  expect(later[0]?.value).toBe((4 * day) / 1000)
})

it('wallets left by a throttled ledger verification, which is no fault, are verified next', async () => {
  await runFor(1)
  const { restore } = tamperCalls(async ({ name, perform }) => {
    if (name === 'GetCommand') throw Object.assign(new Error('slow down'), { name: 'ThrottlingException' })
    return perform()
  })
  let report: unknown
  const metrics = await emittedMetrics(async () => {
    report = await runFor(Infinity)
  }).finally(restore)
  expect(report).toMatchObject({ wallets: 0 })
  expect(metrics.map(({ name }) => name)).toContain('Unavailable')
  expect(await runFor(Infinity)).toMatchObject({ wallets: 12 })
})

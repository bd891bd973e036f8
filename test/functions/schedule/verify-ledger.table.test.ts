import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { handler as walletAdjusted } from '../../../functions/intake/wallet.adjusted.ts'
import { handler } from '../../../functions/schedule/verify-ledger.ts'
import { readSlices, takeSlice, writeSlice } from '../../../shared/ledger/verify/slice.ts'
import { registerShards } from '../../../shared/ledger/wallet.ts'
import { deliver, interceptQueues } from '../../support/deliver.ts'
import { emittedMetrics } from '../../support/emitted-metrics.ts'
import { addUser, adjustment } from '../../support/ledger.ts'
import { useOwnTable } from '../../support/own-table.ts'
import { tamperCalls } from '../../support/tamper-calls.ts'

/** Runs verify-ledger with time for so many batches of eight wallets. */
const runFor = (batches: number) => {
  // The time is looked at once for each slice, and once for each batch and the end of each slice.
  let left = batches + 1
  return handler({}, { awsRequestId: 'test', getRemainingTimeInMillis: () => (left-- > 0 ? 900_000 : 0) })
}

const verified = async () => (await readSlices()).filter(({ verified_at }) => verified_at > 0).length

describe('the daily verification of the ledger', () => {
  let dropTable = async () => {}
  let now = Date.now()

  beforeAll(async () => {
    dropTable = await useOwnTable()
    interceptQueues()
    vi.spyOn(Date, 'now').mockImplementation(() => now)
    for (let user = 1; user <= 4; user += 1) await addWallet(user)
    // Twenty wallets in one slice, for more than two batches.
    for (let user = 1; user <= 20; user += 1) await addWallet(user * registerShards)
  })
  beforeEach(() => {
    now += 86_400_000
  })
  afterAll(() => dropTable())

  async function addWallet(userId: number): Promise<void> {
    await deliver(walletAdjusted, adjustment(await addUser(userId)))
  }

  it('runs at the same time verify every wallet once, and no more until the next day', async () => {
    const runs = await Promise.all([runFor(Infinity), runFor(Infinity), runFor(Infinity)])
    const sum = (name: 'wallets' | 'finished') => runs.reduce((total, run) => total + run[name], 0)
    expect([sum('wallets'), sum('finished')]).toEqual([24, registerShards])
    expect(await verified()).toBe(registerShards)
    now += 86_399_999
    expect(await runFor(Infinity)).toMatchObject({ wallets: 0, finished: 0 })
    now += 1
    expect(await runFor(Infinity)).toMatchObject({ wallets: 24, finished: registerShards })
  })

  it('a run that has no time left leaves its slice to the next run, which continues after its last wallet', async () => {
    expect(await runFor(1)).toMatchObject({ wallets: 8, finished: 0 })
    expect(await runFor(1)).toMatchObject({ wallets: 8, finished: 0 })
    expect(await runFor(Infinity)).toMatchObject({ wallets: 8, finished: registerShards })
  })

  it('the slice of a run that was killed is free again when the run would have ended', async () => {
    const [slice = expect.unreachable()] = await readSlices()
    await writeSlice(takeSlice(slice, now, now + 900_000) ?? expect.unreachable())
    expect(await runFor(Infinity)).toMatchObject({ wallets: 4, finished: registerShards - 1 })
    now += 900_000
    expect(await runFor(Infinity)).toMatchObject({ wallets: 20, finished: 1 })
  })

  it('metrics tell how far a pass is, and how old the oldest verification of a slice is', async () => {
    const metrics = await emittedMetrics(() => runFor(1))
    expect(metrics.map(({ name, value }) => [name, value])).toEqual([
      ['LedgerSlicesVerified', registerShards],
      ['LedgerVerificationAge', expect.any(Number)],
      ['LedgerDifferences', 0],
      ['LedgerWallets', 8],
    ])
    now += 3 * 86_400_000
    const later = await emittedMetrics(() => runFor(0))
    const age = later.find(({ name }) => name === 'LedgerVerificationAge')
    expect(age?.value).toBeGreaterThanOrEqual(3 * 86_400)
    expect(later.find(({ name }) => name === 'LedgerSlicesVerified')?.value).toBe(registerShards - 1)
    await runFor(Infinity)
  })

  it('a throttle ends the run without a fault, and the next run continues with the wallets that it met', async () => {
    await runFor(1)
    const { restore } = tamperCalls(async ({ name, perform }) => {
      if (name === 'GetCommand') throw Object.assign(new Error('slow down'), { name: 'ThrottlingException' })
      return perform()
    })
    let report: unknown
    const metrics = await emittedMetrics(async () => {
      report = await runFor(Infinity)
    }).finally(restore)
    expect(report).toMatchObject({ wallets: 0, finished: 0 })
    expect(metrics.map(({ name }) => name)).toContain('Unavailable')
    expect(await runFor(Infinity)).toMatchObject({ wallets: 16, finished: registerShards })
  })
})

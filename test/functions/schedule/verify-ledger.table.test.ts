import { randomInt } from 'node:crypto'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { handler as walletAdjusted } from '../../../functions/intake/wallet.adjusted.ts'
import { handler } from '../../../functions/schedule/verify-ledger.ts'
import { readVerificationCursor, writeVerificationCursor } from '../../../shared/ledger/list-wallets.ts'
import { registerShards } from '../../../shared/ledger/wallet.ts'
import { deliver, interceptQueues } from '../../support/deliver.ts'
import { emittedMetrics } from '../../support/emitted-metrics.ts'
import { addUser, adjustment } from '../../support/ledger.ts'
import { tamperCalls } from '../../support/tamper-calls.ts'

/** Runs verify-ledger with so little time that it stops after the given number of wallets. */
const runFor = (wallets: number) => {
  let left = wallets
  return handler(
    {},
    {
      awsRequestId: 'test',
      getRemainingTimeInMillis: () => (left-- > 0 ? 900_000 : 0),
    },
  )
}

describe('the nightly verification of the ledger', () => {
  beforeAll(interceptQueues)

  it('verify-ledger continues where the previous night ran out of time, and emits the number of differences', async () => {
    // The wallet is in the last shard, so that few wallets of other tests are verified.
    const last = registerShards - 1
    for (let i = 0; i < 3; i += 1) {
      const userId = await addUser(randomInt(1, 2 ** 40) * registerShards + last)
      await deliver(walletAdjusted, adjustment(userId))
    }
    await writeVerificationCursor({ shard: last })
    const lines = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    const first = await runFor(2)
    const written = lines.mock.calls
      .map(([line]) => String(line))
      .filter((line) => line.includes('"LedgerDifferences"'))
    lines.mockRestore()
    expect(first).toMatchObject({ wallets: 2, finished: false })
    expect(written.length).toBe(1)
    const cursor = await readVerificationCursor()
    expect(cursor.after).toBeDefined()
    const rest = await runFor(Infinity)
    expect(rest).toMatchObject({ finished: true })
    expect(rest.wallets).toBeGreaterThan(0)
    expect(await readVerificationCursor()).toEqual({ shard: 0 })
  })

  it('a throttle ends the run without a fault, and the next run continues with the wallet that it met', async () => {
    const last = registerShards - 1
    for (let i = 0; i < 2; i += 1) {
      const userId = await addUser(randomInt(1, 2 ** 40) * registerShards + last)
      await deliver(walletAdjusted, adjustment(userId))
    }
    await writeVerificationCursor({ shard: last })
    let reads = 0
    const { restore } = tamperCalls(async ({ name, perform }) => {
      if (name === 'GetCommand' && (reads += 1) === 3)
        throw Object.assign(new Error('slow down'), { name: 'ThrottlingException' })
      return perform()
    })
    let report: unknown
    const metrics = await emittedMetrics(async () => {
      report = await runFor(Infinity)
    }).finally(restore)
    expect(report).toMatchObject({ wallets: 1, finished: false })
    expect(metrics.map(({ name }) => name)).toEqual(['Unavailable', 'LedgerDifferences'])
    expect((await readVerificationCursor()).after).toBeDefined()
  })
})

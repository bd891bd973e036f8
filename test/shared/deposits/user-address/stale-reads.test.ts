import { expect, it } from 'vitest'
import { transact } from '../../../../shared/db/write.ts'
import { putPool } from '../../../../shared/deposits/address.ts'
import { claimAddress } from '../../../../shared/deposits/user-address.ts'
import { useMemoryTable } from '../../../support/memory-table.ts'

// Eventually consistent reads find nothing.
useMemoryTable(() => () => 60_000)

it('a pool that was just provisioned counts as offered though an eventually consistent read misses it', async () => {
  const pool = { currency: 'USDT', network: 'TRON' }
  await transact([putPool(pool)])
  await expect(claimAddress(7, pool)).rejects.toMatchObject({ failure: 'unavailable' })
})

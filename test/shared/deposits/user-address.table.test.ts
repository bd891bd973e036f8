import { describe, expect, it, vi } from 'vitest'
import { handler as addressesProvisioned } from '../../../functions/intake/addresses.provisioned.ts'
import { claimAddress } from '../../../shared/deposits/user-address.ts'
import { deliver } from '../../support/deliver.ts'
import { newPool, provision } from '../../support/deposits.ts'
import { addUser } from '../../support/ledger.ts'

it('fifty simultaneous first requests of a user get the same deposit address', async () => {
  const pool = newPool()
  await deliver(addressesProvisioned, provision(pool, 60))
  const userId = await addUser()
  const addresses = await Promise.all(Array.from({ length: 50 }, () => claimAddress(userId, pool)))
  expect(new Set(addresses.map(({ address }) => address)).size).toBe(1)
  expect(await claimAddress(userId, pool)).toEqual(addresses[0])
})

describe('of two users who claim the last free deposit address', () => {
  async function claimLast() {
    const pool = newPool()
    await deliver(addressesProvisioned, provision(pool, 1))
    const users = await Promise.all([addUser(), addUser()])
    const lines = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    const results = await Promise.allSettled(users.map((userId) => claimAddress(userId, pool)))
    const alarms = lines.mock.calls.filter(([line]) => String(line).includes('AddressPoolLow'))
    lines.mockRestore()
    return { pool, users, results, alarms }
  }

  it('one gets it', async () => {
    const { results } = await claimLast()
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(results).toContainEqual(
      expect.objectContaining({ reason: expect.objectContaining({ failure: 'unavailable' }) as unknown }),
    )
  })

  it('both raise the low-pool alarm', async () => {
    expect((await claimLast()).alarms).toHaveLength(2)
  })

  it('the other gets one that is provisioned later', async () => {
    const { pool, users } = await claimLast()
    await deliver(addressesProvisioned, provision(pool, 1))
    const claimed = await Promise.all(users.map((userId) => claimAddress(userId, pool)))
    expect(new Set(claimed.map(({ address }) => address)).size).toBe(2)
  })
})

it('the low-pool alarm is raised as soon as fewer free addresses than the threshold are left', async () => {
  const pool = newPool()
  await deliver(addressesProvisioned, provision(pool, 102))
  const lines = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const told = async () => {
    lines.mockClear()
    await claimAddress(await addUser(), pool)
    return lines.mock.calls.some(([line]) => String(line).includes('AddressPoolLow'))
  }
  expect([await told(), await told(), await told()]).toEqual([false, false, true])
  lines.mockRestore()
})

it('a deposit address gets its tag and its number of confirmations from its batch', async () => {
  const pool = newPool()
  const batch = provision(pool, 0, {
    addresses: [{ address: 'shared', tag: '42' }],
    required_confirmations: 3,
  })
  await deliver(addressesProvisioned, batch)
  expect(await claimAddress(await addUser(), pool)).toMatchObject({
    currency: 'USDT',
    currency_network: pool.network,
    address: 'shared',
    tag: '42',
    required_confirmations: 3,
  })
})

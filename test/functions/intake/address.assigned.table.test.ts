import { describe, expect, it, vi } from 'vitest'
import { handler as addressAssigned } from '../../../functions/intake/address.assigned.ts'
import { handler as addressesProvisioned } from '../../../functions/intake/addresses.provisioned.ts'
import { handler as depositUpdated } from '../../../functions/intake/deposit.updated.ts'
import { countFreeAddresses } from '../../../shared/deposits/address.ts'
import { claimAddress, readUserAddress } from '../../../shared/deposits/user-address.ts'
import { deliver, refusedAs } from '../../support/deliver.ts'
import { assignment, deposit, newPool, provision } from '../../support/deposits.ts'
import { addUser } from '../../support/ledger.ts'

async function newScene() {
  const pool = newPool()
  const batch = provision(pool, 2)
  await deliver(addressesProvisioned, batch)
  const [mine = '', other = ''] = batch.addresses.map(({ address }) => address)
  const [userId, stranger] = [await addUser(), await addUser()]
  return { pool, mine, other, userId, stranger, at: Date.now() - 60_000 }
}

describe('address.assigned restores an assignment that the table has lost', () => {
  async function restore() {
    const scene = await newScene()
    const { pool, mine, userId, at } = scene
    expect(await deliver(addressAssigned, assignment(pool, mine, userId, at))).toBe('done')
    return scene
  }

  it('for its user', async () => {
    const { pool, mine, userId, at } = await restore()
    expect(await readUserAddress(userId, pool)).toMatchObject({ address: mine, created_at: at })
    expect(await claimAddress(userId, pool)).toMatchObject({ address: mine, created_at: at })
  })

  it('so that nobody else gets the address', async () => {
    const { pool, other, stranger } = await restore()
    expect((await claimAddress(stranger, pool)).address).toBe(other)
  })

  it('for deposits', async () => {
    const { pool, userId } = await restore()
    expect(await deliver(depositUpdated, deposit(await claimAddress(userId, pool)))).toBe('done')
  })
})

it('address.assigned changes nothing if the table has the assignment, even three times at once', async () => {
  const { pool, userId } = await newScene()
  const claimed = await claimAddress(userId, pool)
  const detail = assignment(pool, claimed.address, userId, claimed.created_at)
  const deliveries = await Promise.all([1, 2, 3].map(() => deliver(addressAssigned, detail)))
  expect(deliveries).toEqual(['done', 'done', 'done'])
  expect(await claimAddress(userId, pool)).toEqual(claimed)
})

it('address.assigned refuses an address that is assigned to another user, who keeps it', async () => {
  const { pool, mine, userId, stranger, at } = await newScene()
  await deliver(addressAssigned, assignment(pool, mine, userId, at))
  const again = assignment(pool, mine, stranger, at)
  expect(await deliver(addressAssigned, again)).toEqual(refusedAs('conflicting_content'))
  expect(await readUserAddress(stranger, pool)).toBeUndefined()
  expect(await readUserAddress(userId, pool)).toMatchObject({ address: mine })
})

// The user keeps both.
it('a user who is assigned two addresses is shown the earlier one, in whatever order they come', async () => {
  const inTurn = async (details: object[]) => {
    for (const detail of details) expect(await deliver(addressAssigned, detail)).toBe('done')
  }
  const atOnce = (details: object[]) => Promise.all(details.map((detail) => inTurn([detail])))
  const reversed = (details: object[]) => inTurn(details.toReversed())
  for (const send of [inTurn, reversed, ...Array.from({ length: 8 }, () => atOnce)]) {
    const { pool, mine, other, userId, at } = await newScene()
    await send([assignment(pool, mine, userId, at), assignment(pool, other, userId, at + 1)])
    expect((await claimAddress(userId, pool)).address).toBe(mine)
    expect(await countFreeAddresses(pool, 2)).toBe(0)
  }
})

it('an address.assigned event is retried until its address has been provisioned', async () => {
  const pool = newPool()
  const batch = provision(pool, 1)
  const detail = assignment(pool, batch.addresses[0]?.address ?? '', await addUser(), Date.now())
  expect(await deliver(addressAssigned, detail)).toBe('retry')
  await deliver(addressesProvisioned, batch)
  expect(await deliver(addressAssigned, detail)).toBe('done')
})

it('an address.assigned event is refused if its currency is not the currency of the address', async () => {
  const { pool, mine, userId, at } = await newScene()
  const detail = assignment({ ...pool, currency: 'BTC' }, mine, userId, at)
  expect(await deliver(addressAssigned, detail)).toEqual(refusedAs('wrong_currency'))
})

describe('a deposit address whose assignment the bus has not accepted', () => {
  async function assignUntold() {
    const scene = await newScene()
    const { pool, userId } = scene
    vi.stubEnv('EVENT_BUS_NAME', 'no-such-bus')
    for (let times = 0; times < 2; times += 1)
      await expect(claimAddress(userId, pool)).rejects.toThrow('the bus refused an event')
    return scene
  }

  it('is not shown', async () => {
    const { pool, userId } = await assignUntold()
    expect(await readUserAddress(userId, pool)).toBeUndefined()
  })

  it('is shown to its user alone once the bus accepts it', async () => {
    const { pool, userId, stranger } = await assignUntold()
    vi.unstubAllEnvs()
    const { address } = await claimAddress(userId, pool)
    expect(await readUserAddress(userId, pool)).toMatchObject({ address })
    expect((await claimAddress(stranger, pool)).address).not.toBe(address)
  })
})

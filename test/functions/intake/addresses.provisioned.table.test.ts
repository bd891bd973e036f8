import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { handler as addressesProvisioned } from '../../../functions/intake/addresses.provisioned.ts'
import { readAddresses } from '../../../shared/deposits/address.ts'
import { claimAddress } from '../../../shared/deposits/user-address.ts'
import { applyEvent } from '../../support/apply-event.ts'
import { deliver, refusedAs } from '../../support/deliver.ts'
import { newPool, provision } from '../../support/deposits.ts'
import { addUser } from '../../support/ledger.ts'

it('a batch of deposit addresses adds each address only once, even if three copies arrive simultaneously', async () => {
  const pool = newPool()
  const batch = provision(pool, 50)
  expect(await Promise.all([1, 2, 3].map(() => deliver(addressesProvisioned, batch)))).toEqual([
    'done',
    'done',
    'done',
  ])
  const users = await Promise.all(Array.from({ length: 50 }, () => addUser()))
  const addresses = await Promise.all(users.map((userId) => claimAddress(userId, pool)))
  expect(new Set(addresses.map(({ address }) => address))).toEqual(
    new Set(batch.addresses.map(({ address }) => address)),
  )
  await expect(claimAddress(await addUser(), pool)).rejects.toMatchObject({ failure: 'unavailable' })
}, 60_000)

it('a batch of deposit addresses that contains an address of another batch adds no address at all', async () => {
  const pool = newPool()
  const batch = provision(pool, 1)
  await deliver(addressesProvisioned, batch)
  expect(await deliver(addressesProvisioned, { ...batch, required_confirmations: 1 })).toEqual(
    refusedAs('conflicting_content'),
  )
  const other = provision(pool, 3)
  const overlapping = { ...other, addresses: [...other.addresses, ...batch.addresses] }
  expect(await deliver(addressesProvisioned, overlapping)).toEqual(refusedAs('address_taken'))
  await claimAddress(await addUser(), pool)
  await expect(claimAddress(await addUser(), pool)).rejects.toMatchObject({ failure: 'unavailable' })
})

it('of two large batches that share an address and come together, the refused one leaves nothing behind', async () => {
  const pool = newPool()
  const shared = provision(pool, 1).addresses
  const batches = [1, 2].map(() => {
    const batch = provision(pool, 100)
    return { ...batch, addresses: [...batch.addresses, ...shared] }
  })
  const deliveries = await Promise.all(batches.map((batch) => deliver(addressesProvisioned, batch)))
  expect(deliveries).toContainEqual('done')
  expect(deliveries).toContainEqual(refusedAs('address_taken'))
  const refused = batches[deliveries.indexOf('done') === 0 ? 1 : 0] as (typeof batches)[number]
  const corrected = { ...refused, batch_id: randomUUID(), addresses: refused.addresses.slice(0, -1) }
  const known = await readAddresses(corrected.addresses.map((one) => ({ ...one, network: pool.network })))
  expect(known).toEqual([])
  expect(await deliver(addressesProvisioned, corrected)).toBe('done')
})

it.each([
  ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed'],
  ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4'],
])('the address %s in the spelling %s of another batch is taken', async (one, other) => {
  const pool = newPool()
  await deliver(addressesProvisioned, provision(pool, 0, { addresses: [{ address: one }] }))
  const again = provision(pool, 0, { addresses: [{ address: other }] })
  expect(await deliver(addressesProvisioned, again)).toEqual(refusedAs('address_taken'))
})

it('a batch that spells its addresses in another way when it is sent again has no effect', async () => {
  const batch = provision(newPool(), 0, { addresses: [{ address: `0x${'aB'.repeat(20)}`, tag: '7' }] })
  expect(await applyEvent(addressesProvisioned, batch)).toBe('applied')
  const again = { ...batch, addresses: [{ address: `0x${'ab'.repeat(20)}`, tag: '7' }] }
  expect(await applyEvent(addressesProvisioned, again)).toBe('duplicate')
})

it.each([
  ['no addresses', { addresses: [] }],
  ['an address twice', { addresses: [{ address: 'a' }, { address: 'a', tag: null }] }],
  [
    'an address in two spellings',
    { addresses: [{ address: `0x${'aB'.repeat(20)}` }, { address: `0x${'ab'.repeat(20)}` }] },
  ],
  ['a tag with leading zeros', { addresses: [{ address: 'a', tag: '007' }] }],
  ['a tag with a space', { addresses: [{ address: 'a', tag: '7 ' }] }],
  ['an empty address', { addresses: [{ address: '' }] }],
  ['negative confirmations', { required_confirmations: -1 }],
  ['no network', { currency_network: undefined }],
])('a batch of deposit addresses with %s is refused', async (_name, change) => {
  expect(await deliver(addressesProvisioned, provision(newPool(), 1, change))).toEqual(
    refusedAs('invalid_detail'),
  )
})

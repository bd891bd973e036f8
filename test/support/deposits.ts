import { randomUUID } from 'node:crypto'
import { handler as addressesProvisioned } from '../../functions/intake/addresses.provisioned.ts'
import { claimAddress, type UserAddress } from '../../shared/deposits/user-address.ts'
import { deliver } from './deliver.ts'
import { addUser } from './ledger.ts'

/** Returns the currency and network of an address pool that no other test uses. */
export const newPool = () => ({ currency: 'USDT', network: `NET-${randomUUID().slice(0, 12)}`.toUpperCase() })

/** Builds an `addresses.provisioned` event with the given number of addresses. */
export const provision = (
  pool: { currency: string; network: string },
  count: number,
  changes: object = {},
) => ({
  batch_id: randomUUID(),
  currency: pool.currency,
  currency_network: pool.network,
  required_confirmations: 12,
  addresses: Array.from({ length: count }, () => ({ address: `0x${randomUUID()}` })),
  ...changes,
})

/** Builds the `address.assigned` event of an address of a pool. */
export const assignment = (
  { currency, network }: { currency: string; network: string },
  address: string,
  userId: number,
  at: number,
) => ({ address, currency, currency_network: network, user_id: userId, at })

/** Adds a user with a deposit address. */
export async function addDepositor(): Promise<{ userId: number; address: UserAddress }> {
  const pool = newPool()
  await deliver(addressesProvisioned, provision(pool, 1))
  const userId = await addUser()
  return { userId, address: await claimAddress(userId, pool) }
}

/** Builds the `deposit.updated` event of a confirmed deposit of 5 to an address. `changes` replace fields. */
export const deposit = (address: UserAddress, changes: object = {}) => ({
  currency_network: address.currency_network,
  txid: `tx-${randomUUID()}`,
  output_index: 0,
  address: address.address,
  currency: address.currency,
  amount: '5',
  status: 'confirmed',
  confirmations: 12,
  at: 1_700_000_000_000,
  ...changes,
})

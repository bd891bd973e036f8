import { readItems } from '../db/read.ts'
import type { Item } from '../db/table.ts'
import type { Change } from '../db/write.ts'
import { digestOfPoolItem, heldItem } from './address-pool.ts'
import { addressDigest, addressKey, digestOfAddress, toAddress } from './deposit-address.ts'
import { assigneeOf, userAddressKey } from './user-address.ts'

/** Items of deposit addresses. */
export interface AddressItems {
  /** The free addresses, and those that were assigned since the instant. */
  addresses: readonly Item[]
  /** The users' addresses that were assigned since the instant. */
  userAddresses: readonly Item[]
  /** Everything in the pools. */
  pools: readonly Item[]
}

/**
 * The changes that take back assignments of addresses of which only a part is there: the user asks again, and
 * whoever was told an address gets it back by its event. Every address that is free is then in its pool, as a
 * held one if it was not there, and no other address is.
 */
export async function undoAssignments({ addresses, userAddresses, pools }: AddressItems): Promise<Change[]> {
  const assignments = userAddresses.map((item) => ({ item, ...assigneeOf(item) }))
  const named = await readItems(
    assignments.map(({ address }) => addressKey(addressDigest(address))),
    { consistent: true },
  )
  const ownerOf = (item: Item | undefined) => item && toAddress(item).user_id
  const lost = assignments.filter(({ userId }, i) => ownerOf(named[i]) !== userId)
  const assigned = addresses.filter((item) => ownerOf(item) !== undefined)
  const known = await readItems(
    assigned.map((item) => {
      const { user_id: userId = 0, currency, currency_network: network } = toAddress(item)
      return userAddressKey(userId, { currency, network })
    }),
    { consistent: true },
  )
  const orphans = assigned.filter((_, i) => known[i] === undefined)
  const free = new Map(
    [...addresses.filter((item) => !assigned.includes(item)), ...orphans].map((item) => [
      digestOfAddress(item),
      item,
    ]),
  )
  const inPool = Map.groupBy(pools, digestOfPoolItem)
  return [
    ...lost.map(({ item }) => ({ before: item, after: undefined })),
    ...orphans.map((before) => ({ before, after: { ...before, user_id: undefined, changed_at: undefined } })),
    ...[...inPool].flatMap(([digest, items]) => {
      const superfluous = digest === undefined ? [] : items.slice(free.has(digest) ? 1 : 0)
      return superfluous.map((before) => ({ before, after: undefined }))
    }),
    ...[...free].flatMap(([digest, item]) => {
      const { currency, currency_network: network } = toAddress(item)
      return inPool.has(digest) ? [] : [{ before: undefined, after: heldItem({ currency, network }, digest) }]
    }),
  ]
}
